import HeirloomModel

/// The changes to an attribute's values on a path through several versions.
struct AttributeWay {
  /// One for each hop, in order.
  var changes: [(old: AttributeDescription, new: AttributeDescription)] = []

  var steps: [ValueStep] {
    changes.flatMap { old, new -> [ValueStep] in
      let conversion: [ValueStep] = old.type == new.type ? [] : [.converted(new.type)]
      return conversion + (filling(old, new).map { [.filled($0)] } ?? [])
    }
  }

  /// For rows with NULL: the first default on the path, converted to the later types.
  var filling: AttributeValue? {
    var value: AttributeValue?
    for (old, new) in changes { value = value?.converted(to: new.type) ?? filling(old, new) }
    return value
  }

  /// True when direct conversion isn't possible, or when it loses another part of a value than the path does.
  var mustBeTaken: Bool {
    guard let first = changes.first?.old, let last = changes.last?.new, first.composite == nil else { return false }
    let direct = AttributeConversion(from: first.type, to: last.type)
    let cuts = Set(changes.compactMap { AttributeConversion(from: $0.old.type, to: $0.new.type).cut })
    return !direct.isPossible || cuts != Set([direct.cut].compactMap { $0 })
  }

  /// For an attribute that was added on the path: its default, converted.
  func value(startingWith first: AttributeDescription) -> AttributeValue? {
    guard first.composite == nil else { return nil }
    var value = first.defaultValue
    for (old, new) in changes { value = value?.converted(to: new.type) ?? filling(old, new) }
    return value
  }

  private func filling(_ old: AttributeDescription, _ new: AttributeDescription) -> AttributeValue? {
    old.isOptional && !new.isOptional && new.composite == nil ? new.defaultValue : nil
  }
}

extension AttributeConversion {
  /// The part of a value that a conversion loses.
  fileprivate enum Cut: Hashable {
    case fraction
    case all
    case digits
  }

  fileprivate var cut: Cut? {
    if destination == .boolean { return source.isInteger ? .all : nil }
    if destination.isInteger { return source.isInteger || source == .boolean ? nil : .fraction }
    let isDouble = destination == .double || destination == .float
    // A store keeps whole numbers in a decimal's column unchanged.
    return isDouble && (source == .integer64 || source == .decimal) ? .digits : nil
  }
}

extension AttributeValue {
  fileprivate func converted(to type: AttributeType) -> AttributeValue? {
    switch (self, type) {
    case (.integer(let number), .double), (.integer(let number), .float): .double(Double(number))
    case (.integer(let number), .decimal): .decimal("\(number)")
    case (.integer(let number), .boolean): .boolean(number != 0)
    case (.boolean(let flag), let type) where type.isInteger: .integer(flag ? 1 : 0)
    case (.double(let number), let type) where type.isInteger:
      Int64(exactly: number.rounded(.towardZero)).map { .integer($0) }
    case (.double(let number), .decimal): .decimal("\(number)")
    case (.decimal(let text), .double), (.decimal(let text), .float): Double(text).map { .double($0) }
    case (.decimal(let text), let type) where type.isInteger:
      Double(text).flatMap { Int64(exactly: $0.rounded(.towardZero)) }.map { .integer($0) }
    default: self
    }
  }
}
