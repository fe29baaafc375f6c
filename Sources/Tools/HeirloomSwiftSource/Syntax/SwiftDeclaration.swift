/// A type that a Swift file declares or extends, with the parts that a model needs.
package struct SwiftDeclaration: Sendable {
  enum Kind: String, Sendable {
    case classType = "class"
    case structure = "struct"
    case enumeration = "enum"
    case actor
    case interface = "protocol"
    case `extension`
  }

  let kind: Kind
  /// Names from the outermost type to this one; for an extension, those of the extended type.
  var path: [String]
  let place: SwiftPlace
  /// The tokens between its braces.
  var body: Range<Int> = 0..<0
  var attributes: [SwiftAttribute] = []
  /// After the colon: a superclass, a raw type, protocols.
  var inherited: [SwiftTypeName] = []
  var isGeneric: Bool = false
  /// The type itself is in a branch of `#if`, whatever the types around it.
  var isConditional: Bool = false
  var isPrivate: Bool = false
  /// The length of the path that an enclosing extension names as a whole; no name is looked up
  /// within it.
  var head: Int = 0
  var properties: [SwiftProperty] = []
  var cases: [SwiftCase] = []
  /// Freestanding ones in the type, such as `#Unique`.
  var macros: [SwiftAttribute] = []
  var aliases: [SwiftAlias] = []
  /// Those that affect the type's coding or creation: `encode(to:)`, `init(from:)` and `init?`.
  var functions: Set<String> = []

  var name: String { path.last ?? "" }

  var scope: SwiftScope { SwiftScope(path: path, head: kind == .extension ? path.count : head, file: place.file) }

  func has(_ attribute: String) -> Bool { attributes.contains { $0.name == attribute } }

  /// The path may be written differently.
  func isSame(as other: SwiftDeclaration) -> Bool { name == other.name && place == other.place }

  func inherits(_ name: String) -> Bool {
    inherited.contains { if case .named(let names) = $0 { names.last == name } else { false } }
  }
}

struct SwiftAlias: Sendable {
  let name: String
  let type: SwiftTypeName
  var scope: SwiftScope
  let isConditional: Bool
  let isPrivate: Bool
}

/// The types around a place, in which names are looked up outwards.
struct SwiftScope: Hashable, Sendable {
  let path: [String]
  /// The length of the shortest prefix in which names are looked up; the file scope follows.
  let head: Int
  /// The file of the place; if it is `nil`, private declarations of any file are visible.
  let file: Int?

  var outer: SwiftScope {
    SwiftScope(path: path.count > head ? path.dropLast() : [], head: head, file: file)
  }
}

package struct SwiftPlace: Hashable, Sendable {
  let file: Int
  /// From 1.
  package let line: Int
}

struct SwiftAttribute: Sendable {
  /// The last component, without `@` or `#`.
  let name: String
  /// The generic argument, such as `Chat` of `#Unique<Chat>`.
  var subject: SwiftTypeName?
  /// The tokens between the parentheses.
  var arguments: Range<Int> = 0..<0
  let place: SwiftPlace
  var isConditional: Bool = false
}

struct SwiftProperty: Sendable {
  let name: String
  let place: SwiftPlace
  var attributes: [SwiftAttribute] = []
  var type: SwiftTypeName?
  var initialValue: Range<Int>?
  /// The tokens between the braces of a computed property.
  var body: Range<Int>?
  var isStatic: Bool = false
  var isLazy: Bool = false
  var isConstant: Bool = false
  var isQuoted: Bool = false
  var isConditional: Bool = false

  func attribute(_ name: String) -> SwiftAttribute? { attributes.first { $0.name == name } }

  var isStored: Bool { !isStatic && body == nil }

  /// A stored member of a structure whose coding follows its declaration.
  var isPlainMember: Bool {
    !isLazy && !isConditional && !isQuoted && attributes.isEmpty && (!isConstant || initialValue == nil)
  }
}

struct SwiftCase: Hashable, Sendable {
  let name: String
  let place: SwiftPlace
  /// The tokens between the parentheses of associated values.
  var values: Range<Int>?
  var rawValue: Range<Int>?
  let isConditional: Bool
  let isQuoted: Bool
}
