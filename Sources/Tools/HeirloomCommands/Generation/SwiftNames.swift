import HeirloomSwiftSource

/// Swift names for the names in a model, which Core Data allows to be any text.
enum SwiftNames {
  private static let reserved: Set<String> = [
    // Members of generated views and their parts.
    "managedObject", "entityName", "attributeValue", "keyPath", "properties", "Properties", "hash", "hashValue", "set",
    // Types that generated code refers to.
    "AttributeValue", "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int16", "Int32", "Int64", "ManagedObject",
    "ManagedObjectContext", "ManagedObjectError", "String", "TypedAttribute", "TypedObject", "TypedValue", "URL",
    "UUID",
    // Names that are special after a point, or as a type.
    "Any", "Protocol", "Self", "Type", "dynamicType", "init", "self",
  ]
  /// Words that need backticks, and contextual keywords, for which backticks are safer.
  private static let keywords = SwiftWords.keywords.union([
    "actor", "any", "async", "await", "borrowing", "consuming", "each", "isolated", "macro", "nonisolated", "package",
    "sending", "some", "unsafe",
  ])

  /// Unique, without backticks; a name that is valid already stays.
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

  static func spelled(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  static func identifier(_ name: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      let isLetter = scalar.isASCII ? scalar.properties.isAlphabetic || scalar == "_" : scalar.properties.isXIDStart
      if !isLetter, result.isEmpty, isPart(scalar) { result.append("_") }
      result.append(isLetter || isPart(scalar) ? scalar : "_")
    }
    // A single underscore is no identifier in Swift.
    return result.count == 1 && result.first == "_" ? "__" : String(result)
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII ? ("0"..."9").contains(scalar) : scalar.properties.isXIDContinue
  }
}
