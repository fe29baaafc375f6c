import HeirloomFormats
package import HeirloomModel

/// A version of a schema that later edits of the app don't change: Swift source with all its types
/// nested in it.
///
/// The generated source is parsed on its own, and must give each entity its expected version hash.
package struct FrozenSchema: Sendable {
  package let name: String
  /// Such as `2.0.0`.
  package let identifier: String
  package let text: String
  /// Omitted or external parts, in sentences without a full stop.
  package let notes: [String]
  /// By entity, computed from the file.
  package let hashes: [String: VersionHash]

  package init(
    _ schema: SwiftDataSchemas.Schema, of found: SwiftDataSchemas, name: String, identifier: String
  ) throws(FreezingError) {
    let source = found.source
    let builder = SwiftDataModelBuilder(of: schema.roots, in: source)
    let files = source.faults.map { "\($0.path):\($0.error.line): \($0.error.reason)" }
    // Check first: a source that isn't certain may be of any size.
    let model = try Self.model(of: builder, source: source, faults: files + found.texts(of: schema.faults))
    var reader = FrozenSourceReader(builder, of: source, name: name)
    let types = reader.types(in: model)
    try self.init(
      types, of: model, imports: reader.imports, notes: reader.notes, reasons: reader.reasons, name: name,
      identifier: identifier)
  }

  package init(_ model: ManagedObjectModel, name: String, identifier: String) throws(FreezingError) {
    var reader = FrozenModelReader(model)
    let types = reader.types()
    try self.init(
      types, of: model, imports: [], notes: reader.notes, reasons: reader.reasons, name: name, identifier: identifier)
  }

  private init(
    _ types: [FrozenType], of model: ManagedObjectModel, imports: Set<String>, notes: [String], reasons: [String],
    name: String, identifier: String
  ) throws(FreezingError) {
    var reasons = reasons
    let numbers = identifier.split(separator: ".", omittingEmptySubsequences: false)
    if !SwiftWords.isName(name) { reasons.append("\"\(name)\" can't be the name of a type in Swift") }
    if numbers.count != 3 || !numbers.allSatisfy({ Int($0).map { $0 >= 0 } ?? false }) {
      reasons.append("\"\(identifier)\" is not a version number, such as 2.0.0")
    }
    if model.entities.isEmpty { reasons.append("there is no class to freeze") }
    for type in types where SwiftWords.ownNames.contains(type.name) {
      reasons.append("a type that is called \(type.name) can't be nested in a schema")
    }
    guard reasons.isEmpty else { throw FreezingError(reasons: reasons) }
    let modules = ["Foundation", "SwiftData"]
    let others = imports.subtracting(modules).sorted { NaturalOrder.precedes($0, $1) }
    let models = model.entities.map { "      \($0.name).self," }
    let body = types.flatMap { [""] + $0.lines.map { $0.isEmpty ? "" : "  \($0)" } }
    (self.name, self.identifier, self.notes) = (name, identifier, notes)
    text = """
      \(Self.mark)

      \((modules + others).map { "import \($0)" }.joined(separator: "\n"))

      enum \(name): VersionedSchema {
        static var versionIdentifier: Schema.Version { Schema.Version(\(numbers.joined(separator: ", "))) }
        static var models: [any PersistentModel.Type] {
          [
      \(models.joined(separator: "\n"))
          ]
        }
      \(body.joined(separator: "\n"))
      }

      """
    hashes = try Self.read(text, name: name, expected: model.versionHashes())
  }

  package static let mark = "// Frozen by heirloom freeze: stores of this version were shipped. Do not edit."

  private static func model(
    of builder: SwiftDataModelBuilder, source: SwiftDataSource, faults: [String]
  ) throws(FreezingError) -> ManagedObjectModel {
    let doubts = builder.doubts.map { doubt in
      "\(source.text(doubt.place)): \(doubt.property.map { "\(doubt.entity).\($0)" } ?? doubt.entity) is not certain: "
        + doubt.reason
    }
    guard faults.isEmpty, doubts.isEmpty else { throw FreezingError(reasons: faults + doubts) }
    do throws(ModelReadingError) {
      return try builder.model()
    } catch {
      throw FreezingError(reasons: [error.description])
    }
  }

  /// The generated source, parsed on its own, must give the expected version hashes.
  private static func read(
    _ text: String, name: String, expected: [String: VersionHash]
  ) throws(FreezingError) -> [String: VersionHash] {
    var source = SwiftDataSource()
    source.add(Array(text.utf8), path: "\(name).swift")
    let found = SwiftDataSchemas(source)
    let schema = found.schema(of: [name])
    let faults = source.faults.map(\.error.reason) + schema.faults.map(\.reason)
    let builder = SwiftDataModelBuilder(of: schema.roots, in: found.source)
    let hashes = try model(of: builder, source: found.source, faults: faults).versionHashes()
    let different = Set(hashes.keys).union(expected.keys).filter { hashes[$0] != expected[$0] }
    guard different.isEmpty else {
      let names = different.sorted { NaturalOrder.precedes($0, $1) }
      throw FreezingError(reasons: names.map { "\($0) can't be written so that it keeps its version hash" })
    }
    return hashes
  }
}

package struct FreezingError: Error, Hashable, Sendable {
  /// Each with its place, without a full stop.
  package let reasons: [String]

  package init(reasons: [String]) { self.reasons = reasons }
}

/// The rules for names in Swift declarations.
package enum SwiftWords {
  /// The source of a schema uses them itself, or a nested type can't have them.
  static let ownNames: Set<String> = [
    "Any", "Codable", "MigrationStage", "PersistentModel", "Protocol", "Schema", "Self", "Type", "VersionedSchema",
  ]
  /// Names only in backticks.
  package static let keywords: Set<String> = [
    "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit",
    "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
    "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
    "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw",
    "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  static func isName(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart, name != "_" else {
      return false
    }
    return name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue } && !keywords.contains(name)
  }
}
