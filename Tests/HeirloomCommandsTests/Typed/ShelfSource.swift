// Made by heirloom generate. Regenerate it instead of editing it.
// swift-format-ignore-file

import Heirloom

/// The entities of version "Shelf".
nonisolated enum ShelfSource {
  /// An object of the entity "Book".
  nonisolated struct Book: TypedObject {
    static let entityName = "Book"
    static var properties: Properties { Properties(keyPath: "") }
    let managedObject: ManagedObject

    init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }

    /// The attribute "author" (String).
    var author: String {
      get throws(ManagedObjectError) { try managedObject.typedValue("author") }
    }

    /// The attribute "stars" (Integer 16).
    var stars: Int16 {
      get throws(ManagedObjectError) { try managedObject.typedValue("stars") }
    }

    /// The attribute "title" (String, optional).
    var title: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("title") }
    }

    /// The properties that fetches name.
    nonisolated struct Properties {
      private let keyPath: String

      /// Creates the properties below a key path, which is empty or ends with a point.
      init(keyPath: String) { self.keyPath = keyPath }

      /// The path to "author".
      var author: TypedAttribute<String> { TypedAttribute(keyPath + "author") }
      /// The path to "stars".
      var stars: TypedAttribute<Int16> { TypedAttribute(keyPath + "stars") }
      /// The path to "title".
      var title: TypedAttribute<String> { TypedAttribute(keyPath + "title") }
    }
  }
}
