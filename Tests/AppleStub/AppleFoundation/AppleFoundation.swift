// The meaning of `import Foundation` in the checked copy: Foundation with Apple's C library in front of Linux's.
@_exported import Darwin
