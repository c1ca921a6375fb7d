"""What is planned for bank/: entity pages, lessons, proposals."""
