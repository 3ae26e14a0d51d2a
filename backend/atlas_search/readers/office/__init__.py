"""Reading files of office programs other than Word."""
