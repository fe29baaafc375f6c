// The check adds this file to each module of its copy: on a watch (arm64_32) `Int` has 32 bits, and `Int(number)` ends
// the process for a wider number that doesn't fit. `Int(exactly:)` tells, and `Int(clamping:)` does where the number
// is known to fit or any other is as good.
extension Int {
  @available(*, deprecated, message: "an Int of 32 bits may not hold it: use Int(exactly:) or Int(clamping:)")
  init(_ number: Int64) { self = 0 }

  @available(*, deprecated, message: "an Int of 32 bits may not hold it: use Int(exactly:) or Int(clamping:)")
  init(_ number: UInt64) { self = 0 }

  @available(*, deprecated, message: "an Int of 32 bits may not hold it: use Int(exactly:) or Int(clamping:)")
  init(_ number: UInt32) { self = 0 }

  @available(*, deprecated, message: "an Int of 32 bits may not hold it: use Int(exactly:) or Int(clamping:)")
  init(_ number: UInt) { self = 0 }

  @available(*, deprecated, message: "an Int of 32 bits may not hold it: use Int(exactly:) or clamp the number before")
  init(_ number: Double) { self = 0 }
}

@available(*, deprecated, message: "an Int of 32 bits may not hold it: use Int(exactly:) or Int(clamping:)")
func numericCast<Number: BinaryInteger, Other: BinaryInteger>(_ number: Number) -> Other { Other(number) }
