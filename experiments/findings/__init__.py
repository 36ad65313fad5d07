"""What we found beside the paper's claims: a script of a minute for each."""
