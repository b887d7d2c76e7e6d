"""What maintainers run; not part of the wheel."""
