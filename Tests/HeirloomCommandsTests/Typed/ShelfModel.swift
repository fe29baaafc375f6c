// Made by heirloom generate. Regenerate it instead of editing it.
// swift-format-ignore-file

import Foundation
import Heirloom

/// The entities of version "Shelf 2".
nonisolated enum ShelfModel {
  /// An object of the entity "Book", a kind of "Thing".
  nonisolated struct Book: TypedObject {
    static let entityName = "Book"
    static var properties: Properties { Properties(keyPath: "") }
    let managedObject: ManagedObject

    init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }

    /// Makes a new object, which is in the store after the next save.
    static func insert(into context: ManagedObjectContext) throws(ManagedObjectError) -> Self {
      Self(unchecked: try context.insert(entityName))
    }

    /// The attribute "bought" (Date, optional).
    var bought: Date? {
      get throws(ManagedObjectError) { try managedObject.typedValue("bought") }
    }

    /// Sets "bought".
    func set(bought value: Date?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "bought")
    }

    /// The attribute "chapterCount" (Integer 64, optional, computed).
    var chapterCount: Int64? {
      get throws(ManagedObjectError) { try managedObject.typedValue("chapterCount") }
    }

    /// The attribute "colors" (Transformable, optional).
    var colors: Data? {
      get throws(ManagedObjectError) { try managedObject.typedValue("colors") }
    }

    /// Sets "colors".
    func set(colors value: Data?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "colors")
    }

    /// The attribute "cover" (Binary, optional).
    var cover: Data? {
      get throws(ManagedObjectError) { try managedObject.typedValue("cover") }
    }

    /// Sets "cover".
    func set(cover value: Data?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "cover")
    }

    /// The attribute "draft" (String, optional, in memory only).
    var draft: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("draft") }
    }

    /// Sets "draft".
    func set(draft value: String?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "draft")
    }

    /// The attribute "isRead" (Boolean).
    var isRead: Bool {
      get throws(ManagedObjectError) { try managedObject.typedValue("isRead") }
    }

    /// Sets "isRead".
    func set(isRead value: Bool) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "isRead")
    }

    /// The attribute "link" (URI, optional).
    var link: URL? {
      get throws(ManagedObjectError) { try managedObject.typedValue("link") }
    }

    /// Sets "link".
    func set(link value: URL?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "link")
    }

    /// The attribute "mark" (UUID, optional).
    var mark: UUID? {
      get throws(ManagedObjectError) { try managedObject.typedValue("mark") }
    }

    /// Sets "mark".
    func set(mark value: UUID?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "mark")
    }

    /// The attribute "pages" (Integer 32, optional).
    var pages: Int32? {
      get throws(ManagedObjectError) { try managedObject.typedValue("pages") }
    }

    /// Sets "pages".
    func set(pages value: Int32?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "pages")
    }

    /// A value of the composite attribute "place".
    nonisolated struct PlaceValue: TypedValue {
      /// The element "number" (Integer 16).
      var number: Int16
      /// The element "room" (String, optional).
      var room: String?
      /// A value of the composite attribute "place.spot".
      nonisolated struct SpotValue: TypedValue {
        /// The element "x" (Double, optional).
        var x: Double?
        /// The element "y" (Double, optional).
        var y: Double?

        /// Creates a value of its elements.
        init(x e0: Double? = nil, y e1: Double? = nil) {
          self.x = e0
          self.y = e1
        }

        /// Creates a value of an attribute's; `nil` if an element is missing or of another type.
        init?(attributeValue: AttributeValue?) {
          guard
            let attributeValue,
            let e0: Double? = attributeValue.element("x"),
            let e1: Double? = attributeValue.element("y")
          else { return nil }
          self.x = e0
          self.y = e1
        }

        /// The value as an attribute holds it.
        var attributeValue: AttributeValue? {
          var elements: [String: AttributeValue] = [:]
          elements["x"] = self.x.attributeValue
          elements["y"] = self.y.attributeValue
          return .composite(elements)
        }

        /// The properties that fetches name.
        nonisolated struct Properties {
          private let keyPath: String

          /// Creates the properties below a key path, which is empty or ends with a point.
          init(keyPath: String) { self.keyPath = keyPath }

          /// The path to "x".
          var x: TypedAttribute<Double> { TypedAttribute(keyPath + "x") }
          /// The path to "y".
          var y: TypedAttribute<Double> { TypedAttribute(keyPath + "y") }
        }
      }

      /// The element "spot" (Composite, optional).
      var spot: SpotValue?

      /// Creates a value of its elements.
      init(number e0: Int16, room e1: String? = nil, spot e2: SpotValue? = nil) {
        self.number = e0
        self.room = e1
        self.spot = e2
      }

      /// Creates a value of an attribute's; `nil` if an element is missing or of another type.
      init?(attributeValue: AttributeValue?) {
        guard
          let attributeValue,
          let e0: Int16 = attributeValue.element("number"),
          let e1: String? = attributeValue.element("room"),
          let e2: SpotValue? = attributeValue.element("spot")
        else { return nil }
        self.number = e0
        self.room = e1
        self.spot = e2
      }

      /// The value as an attribute holds it.
      var attributeValue: AttributeValue? {
        var elements: [String: AttributeValue] = [:]
        elements["number"] = self.number.attributeValue
        elements["room"] = self.room.attributeValue
        elements["spot"] = self.spot.attributeValue
        return .composite(elements)
      }

      /// The properties that fetches name.
      nonisolated struct Properties {
        private let keyPath: String

        /// Creates the properties below a key path, which is empty or ends with a point.
        init(keyPath: String) { self.keyPath = keyPath }

        /// The path to "number".
        var number: TypedAttribute<Int16> { TypedAttribute(keyPath + "number") }
        /// The path to "room".
        var room: TypedAttribute<String> { TypedAttribute(keyPath + "room") }
        /// The path to "spot".
        var spot: SpotValue.Properties { .init(keyPath: keyPath + "spot.") }
      }
    }

    /// The attribute "place" (Composite, optional).
    var place: PlaceValue? {
      get throws(ManagedObjectError) { try managedObject.typedValue("place") }
    }

    /// Sets "place".
    func set(place value: PlaceValue?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "place")
    }

    /// The attribute "price" (Decimal, optional).
    var price: Decimal? {
      get throws(ManagedObjectError) { try managedObject.typedValue("price") }
    }

    /// Sets "price".
    func set(price value: Decimal?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "price")
    }

    // Left out: the attribute "scratch": its type, Undefined, has none in Swift.

    /// The attribute "sold" (Integer 64).
    var sold: Int64 {
      get throws(ManagedObjectError) { try managedObject.typedValue("sold") }
    }

    /// Sets "sold".
    func set(sold value: Int64) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "sold")
    }

    /// The attribute "stars" (Integer 16).
    var stars: Int16 {
      get throws(ManagedObjectError) { try managedObject.typedValue("stars") }
    }

    /// Sets "stars".
    func set(stars value: Int16) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "stars")
    }

    /// The attribute "thickness" (Float, optional).
    var thickness: Float? {
      get throws(ManagedObjectError) { try managedObject.typedValue("thickness") }
    }

    /// Sets "thickness".
    func set(thickness value: Float?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "thickness")
    }

    /// The attribute "title" (String, optional).
    var title: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("title") }
    }

    /// Sets "title".
    func set(title value: String?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "title")
    }

    /// The attribute "weight" (Double, optional).
    var weight: Double? {
      get throws(ManagedObjectError) { try managedObject.typedValue("weight") }
    }

    /// Sets "weight".
    func set(weight value: Double?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "weight")
    }

    /// The relationship "author" to one object of "Person".
    var author: Person {
      get throws(ManagedObjectError) { try managedObject.requiredObject("author") }
    }

    /// Sets "author".
    func set(author value: Person) throws(ManagedObjectError) {
      try managedObject.setObject(value.managedObject, forRelationship: "author")
    }

    /// The relationship "chapters" to objects of "Chapter", in their order.
    var chapters: [Chapter] {
      get throws(ManagedObjectError) { try managedObject.typedObjects("chapters") }
    }

    /// Sets "chapters".
    func set(chapters value: [Chapter]) throws(ManagedObjectError) {
      try managedObject.setObjects(value.map(\.managedObject), forRelationship: "chapters")
    }

    /// The relationship "sequel" to one object of "Book", optional.
    var sequel: Book? {
      get throws(ManagedObjectError) { try managedObject.typedObject("sequel") }
    }

    /// Sets "sequel".
    func set(sequel value: Book?) throws(ManagedObjectError) {
      try managedObject.setObject(value?.managedObject, forRelationship: "sequel")
    }

    // Left out: the fetched property "cheaper": the app fetches it itself.

    /// The properties that fetches name.
    nonisolated struct Properties {
      private let keyPath: String

      /// Creates the properties below a key path, which is empty or ends with a point.
      init(keyPath: String) { self.keyPath = keyPath }

      /// The path to "bought".
      var bought: TypedAttribute<Date> { TypedAttribute(keyPath + "bought") }
      /// The path to "chapterCount".
      var chapterCount: TypedAttribute<Int64> { TypedAttribute(keyPath + "chapterCount") }
      /// The path to "colors".
      var colors: TypedAttribute<Data> { TypedAttribute(keyPath + "colors") }
      /// The path to "cover".
      var cover: TypedAttribute<Data> { TypedAttribute(keyPath + "cover") }
      /// The path to "isRead".
      var isRead: TypedAttribute<Bool> { TypedAttribute(keyPath + "isRead") }
      /// The path to "link".
      var link: TypedAttribute<URL> { TypedAttribute(keyPath + "link") }
      /// The path to "mark".
      var mark: TypedAttribute<UUID> { TypedAttribute(keyPath + "mark") }
      /// The path to "pages".
      var pages: TypedAttribute<Int32> { TypedAttribute(keyPath + "pages") }
      /// The path to "place".
      var place: PlaceValue.Properties { .init(keyPath: keyPath + "place.") }
      /// The path to "price".
      var price: TypedAttribute<Decimal> { TypedAttribute(keyPath + "price") }
      /// The path to "sold".
      var sold: TypedAttribute<Int64> { TypedAttribute(keyPath + "sold") }
      /// The path to "stars".
      var stars: TypedAttribute<Int16> { TypedAttribute(keyPath + "stars") }
      /// The path to "thickness".
      var thickness: TypedAttribute<Float> { TypedAttribute(keyPath + "thickness") }
      /// The path to "title".
      var title: TypedAttribute<String> { TypedAttribute(keyPath + "title") }
      /// The path to "weight".
      var weight: TypedAttribute<Double> { TypedAttribute(keyPath + "weight") }
      /// The path to "author".
      var author: Person.Properties { .init(keyPath: keyPath + "author.") }
      /// The path to "sequel".
      var sequel: Book.Properties { .init(keyPath: keyPath + "sequel.") }
    }
  }
  /// An object of the entity "Chapter", a kind of "Thing".
  nonisolated struct Chapter: TypedObject {
    static let entityName = "Chapter"
    static var properties: Properties { Properties(keyPath: "") }
    let managedObject: ManagedObject

    init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }

    /// Makes a new object, which is in the store after the next save.
    static func insert(into context: ManagedObjectContext) throws(ManagedObjectError) -> Self {
      Self(unchecked: try context.insert(entityName))
    }

    /// The attribute "title" (String, optional).
    var title: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("title") }
    }

    /// Sets "title".
    func set(title value: String?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "title")
    }

    /// The relationship "book" to one object of "Book", optional.
    var book: Book? {
      get throws(ManagedObjectError) { try managedObject.typedObject("book") }
    }

    /// Sets "book".
    func set(book value: Book?) throws(ManagedObjectError) {
      try managedObject.setObject(value?.managedObject, forRelationship: "book")
    }

    /// The properties that fetches name.
    nonisolated struct Properties {
      private let keyPath: String

      /// Creates the properties below a key path, which is empty or ends with a point.
      init(keyPath: String) { self.keyPath = keyPath }

      /// The path to "title".
      var title: TypedAttribute<String> { TypedAttribute(keyPath + "title") }
      /// The path to "book".
      var book: Book.Properties { .init(keyPath: keyPath + "book.") }
    }
  }
  /// An object of the entity "Person".
  nonisolated struct Person: TypedObject {
    static let entityName = "Person"
    static var properties: Properties { Properties(keyPath: "") }
    let managedObject: ManagedObject

    init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }

    /// Makes a new object, which is in the store after the next save.
    static func insert(into context: ManagedObjectContext) throws(ManagedObjectError) -> Self {
      Self(unchecked: try context.insert(entityName))
    }

    /// The attribute "name" (String).
    var name: String {
      get throws(ManagedObjectError) { try managedObject.typedValue("name") }
    }

    /// Sets "name".
    func set(name value: String) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "name")
    }

    /// The relationship "books" to objects of "Book", saved ones by primary key, then new ones.
    var books: [Book] {
      get throws(ManagedObjectError) { try managedObject.typedObjects("books") }
    }

    /// Sets "books".
    func set(books value: [Book]) throws(ManagedObjectError) {
      try managedObject.setObjects(value.map(\.managedObject), forRelationship: "books")
    }

    /// The properties that fetches name.
    nonisolated struct Properties {
      private let keyPath: String

      /// Creates the properties below a key path, which is empty or ends with a point.
      init(keyPath: String) { self.keyPath = keyPath }

      /// The path to "name".
      var name: TypedAttribute<String> { TypedAttribute(keyPath + "name") }
    }
  }
  /// An object of the entity "Thing".
  nonisolated struct Thing: TypedObject {
    static let entityName = "Thing"
    static var properties: Properties { Properties(keyPath: "") }
    let managedObject: ManagedObject

    init(unchecked managedObject: ManagedObject) { self.managedObject = managedObject }

    /// The attribute "title" (String, optional).
    var title: String? {
      get throws(ManagedObjectError) { try managedObject.typedValue("title") }
    }

    /// Sets "title".
    func set(title value: String?) throws(ManagedObjectError) {
      try managedObject.setValue(value.attributeValue, forAttribute: "title")
    }

    /// The properties that fetches name.
    nonisolated struct Properties {
      private let keyPath: String

      /// Creates the properties below a key path, which is empty or ends with a point.
      init(keyPath: String) { self.keyPath = keyPath }

      /// The path to "title".
      var title: TypedAttribute<String> { TypedAttribute(keyPath + "title") }
    }
  }
}
