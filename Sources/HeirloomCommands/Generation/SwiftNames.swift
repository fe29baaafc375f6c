import HeirloomSwiftSource

/// Swift names for names of a model, which may be anything.
enum SwiftNames {
  /// The names that generated code uses itself, or that no declaration may have.
  private static let reserved: Set<String> = [
    // Of a view of an object and of its parts.
    "managedObject", "entityName", "attributeValue", "keyPath", "properties", "Properties", "hash", "hashValue", "set",
    // Types that the code names.
    "AttributeValue", "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int16", "Int32", "Int64", "ManagedObject",
    "ManagedObjectContext", "ManagedObjectError", "String", "TypedAttribute", "TypedObject", "TypedValue", "URL",
    "UUID",
    // Words with a meaning after a point, or as a type.
    "Any", "Protocol", "Self", "Type", "dynamicType", "init", "self",
  ]
  /// The words that are names only between backticks, and those with a meaning in some places, which are safer so.
  private static let keywords = SwiftWords.keywords.union([
    "actor", "any", "async", "await", "borrowing", "consuming", "each", "isolated", "macro", "nonisolated", "package",
    "sending", "some", "unsafe",
  ])

  /// Gives each name a Swift name that no other has; a name that is one already keeps it.
  ///
  /// - Parameters:
  ///   - names: The names.
  ///   - taken: Swift names that are not free.
  /// - Returns: The Swift names, without backticks, by name.
  static func assigned(to names: [String], taken: Set<String> = []) -> [String: String] {
    var assigned: [String: String] = [:]
    var taken = taken.union(reserved)
    for name in names where identifier(name) == name && taken.insert(name).inserted { assigned[name] = name }
    for name in names where assigned[name] == nil {
      let base = identifier(name)
      var candidate = base + (reserved.contains(base) ? "_" : "")
      var number = 2
      while !taken.insert(candidate).inserted {
        candidate = "\(base)_\(number)"
        number += 1
      }
      assigned[name] = candidate
    }
    return assigned
  }

  /// Returns a Swift name as code spells it.
  static func spelled(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// Returns a name with underscores in place of all that no Swift name may have.
  static func identifier(_ name: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      let isLetter = scalar.isASCII ? scalar.properties.isAlphabetic || scalar == "_" : scalar.properties.isXIDStart
      if !isLetter, result.isEmpty, isPart(scalar) { result.append("_") }
      result.append(isLetter || isPart(scalar) ? scalar : "_")
    }
    // Swift has another meaning for a single underscore.
    return result.count == 1 && result.first == "_" ? "__" : String(result)
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? ("0"..."9").contains(scalar) : scalar.properties.isXIDContinue
  }
}
