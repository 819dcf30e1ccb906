"""Files, trees and branches as users see them, and their entries as arrays of a library."""
