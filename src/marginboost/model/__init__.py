"""What training leaves behind: the ensemble that predicts, and how it is put together."""
