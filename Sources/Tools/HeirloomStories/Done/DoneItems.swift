import Foundation
import Heirloom

/// With the properties of the story's first version.
struct DoneItems: Equatable {
  private struct Item: Equatable {
    let name: AttributeValue?
    let createdAt: AttributeValue?
    let done: AttributeValue?
  }

  private var items: [Int64: Item] = [:]

  init(of path: String, model: ManagedObjectModel) throws {
    let store = try PersistentStore.open(at: URL(fileURLWithPath: path), model: model, isReadOnly: true)
    var found: [Int64: Item] = [:]
    try ManagedObjectContext(store: store).forEach("Item") { object throws(ManagedObjectError) in
      guard let key = object.objectID?.primaryKey else { return true }
      found[key] = Item(
        name: try object.value(forAttribute: "name"), createdAt: try object.value(forAttribute: "createdAt"),
        done: try object.value(forAttribute: "done"))
      return true
    }
    try store.close()
    items = found
  }

  var count: Int { items.count }

  /// With equal values and the same primary key.
  func contains(_ others: DoneItems) -> Bool {
    others.items.allSatisfy { items[$0.key] == $0.value }
  }

  static func add(_ numbers: Range<Int>, to store: PersistentStore) throws(ManagedObjectError) {
    let things = ["Water the plants", "Call grandmother", "Write the letter", "Mend the coat", "Plant a tree"]
    let context = ManagedObjectContext(store: store)
    for number in numbers {
      let item = try context.insert("Item")
      try item.setValue(.string("\(things[number % things.count]) (\(number + 1))"), forAttribute: "name")
      // One item per hour, from 2020-01-01 on.
      try item.setValue(.date(599_529_600 + Double(number) * 3600), forAttribute: "createdAt")
      try item.setValue(.boolean(number.isMultiple(of: 3)), forAttribute: "done")
    }
    try context.save()
  }
}
