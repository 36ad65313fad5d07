"""What decisions are worth: costs and orders, beside what others would do with the same rows."""
