import Heirloom
import TestSupport

extension InferableChangeTests {
  /// Changes in which objects come under an entity of another tree, where their keys are taken.
  static let arrivals: [Change] = {
    let name = attribute("name")
    let (home, guest) = (entity("P", [name]), entity("E", [attribute("x", .integer32)]))
    func moved(_ guest: EntityDescription, below parent: String = "P") -> EntityDescription {
      var guest = guest
      guest.superentity = parent
      return guest
    }
    func arrival(
      _ what: String, _ relationships: [RelationshipDescription], home: [RelationshipDescription] = [],
      _ others: [EntityDescription] = []
    ) -> Change {
      let guest = entity("E", [attribute("x")], relationships)
      let fixed = [entity("P", [name], home), entity("Q", [attribute("y")], parent: "P")] + others
      return Change("entity moved into a hierarchy: \(what)", fixed + [guest], fixed + [moved(guest)])
    }
    return [
      Change("entity moved below a root", [home, guest], [home, moved(guest)]),
      Change(
        "entity moved below an entity of its own attribute",
        [home, entity("E", [name, attribute("x")])], [home, entity("E", [attribute("x")], parent: "P")]),
      Change(
        "entity with the first name moved below another", [entity("A", [attribute("x")]), entity("Z", [name])],
        [entity("A", [attribute("x")], parent: "Z"), entity("Z", [name])]),
      Change(
        "entity moved below a child that is moved below a new parent",
        [home, entity("C", parent: "P"), guest],
        [entity("N", isAbstract: true), moved(home, below: "N"), entity("C", parent: "P"), moved(guest, below: "C")]),
      Change(
        "two related entities moved below two others",
        [
          home, entity("C", parent: "P"), entity("E", [], [toOne("f", "F", "es"), toMany("gs", "F", "hs")]),
          entity(
            "F", [attribute("x")], [toMany("es", "E", "f", ordered: true), toMany("hs", "E", "gs", ordered: true)]),
        ],
        [
          home, entity("C", parent: "P"),
          entity("E", [], [toOne("f", "F", "es"), toMany("gs", "F", "hs")], parent: "C"),
          entity(
            "F", [attribute("x")],
            [toMany("es", "E", "f", ordered: true), toMany("hs", "E", "gs", ordered: true)], parent: "P"),
        ]),
      Change(
        "entity moved from one hierarchy into another",
        [
          entity("A", [], [toOne("c", "C", "as"), toOne("q", "Q"), toOne("p", "P", "bs")]),
          entity("P", [name], [toMany("bs", "A", "p")]), entity("Q", [attribute("z")]),
          entity("C", [attribute("x")], [toMany("as", "A", "c")], parent: "Q"), entity("D", parent: "Q"),
        ],
        [
          entity("A", [], [toOne("c", "C", "as"), toOne("q", "Q"), toOne("p", "P", "bs")]),
          entity("P", [name], [toMany("bs", "A", "p")]), entity("Q", [attribute("z")]),
          entity("C", [attribute("x")], [toMany("as", "A", "c")], parent: "P"), entity("D", parent: "Q"),
        ]),
      arrival(
        "to-one to and from it", [toMany("as", "A", "e"), toOne("b", "B", "es")],
        [
          entity("A", [], [toOne("e", "E", "as"), toOne("p", "P")]), entity("B", [name], [toMany("es", "E", "b")]),
        ]),
      arrival(
        "ordered members", [toOne("a", "A", "es"), toMany("bs", "B", "e", ordered: true)],
        [
          entity("A", [name], [toMany("es", "E", "a", ordered: true)]), entity("B", [name], [toOne("e", "E", "bs")]),
        ]),
      arrival(
        "many-to-many", [toMany("as", "A", "es"), toMany("bs", "B", "es", ordered: true)],
        [
          entity("A", [name], [toMany("es", "E", "as", ordered: true)]), entity("B", [name], [toMany("es", "E", "bs")]),
        ]),
      arrival(
        "related to itself",
        [
          toMany("friends", "E", "friends"), toMany("likes", "E", "likedBy"), toMany("likedBy", "E", "likes"),
          toOne("next", "E", "previous"), toOne("previous", "E", "next"), toOne("up", "E", "down"),
          toMany("down", "E", "up", ordered: true),
        ]),
      arrival(
        "related to the tree that it comes to",
        [
          toOne("p", "P", "es"), toMany("ps", "P", "fs"), toOne("only", "P", "back"), toMany("loose", "P"),
        ],
        home: [
          toMany("es", "E", "p", ordered: true), toMany("fs", "E", "ps", ordered: true), toOne("back", "E", "only"),
          toMany("lost", "E"), toMany("own", "P", "own"), toOne("up", "P", "down"), toMany("down", "P", "up"),
        ]),
      arrival(
        "to-many without inverse", [toMany("bs", "B"), toOne("a", "A"), toMany("cs", "C", ordered: true)],
        [entity("A", [name], [toMany("es", "E")]), entity("B", [name]), entity("C", [name], [toOne("e", "E")])]),
      arrival(
        "one-to-one", [toOne("a", "A", "e")], [entity("A", [name], [toOne("e", "E", "a"), toOne("p", "P")])]),
      Change(
        "links kept in another way on arrival",
        [
          home,
          entity("A", [], [toOne("e", "E", "as"), toMany("fs", "E", "a"), toMany("gs", "E", "bs", ordered: true)]),
          entity("E", [], [toMany("as", "A", "e"), toOne("a", "A", "fs"), toMany("bs", "A", "gs")]),
        ],
        [
          home,
          entity("A", [], [toMany("e", "E", "as"), toMany("fs", "E", "a"), toMany("gs", "E", "bs", ordered: true)]),
          entity("E", [], [toMany("as", "A", "e"), toMany("a", "A", "fs"), toOne("bs", "A", "gs")], parent: "P"),
        ]),
      Change(
        "keys of both trees go on as those of the parent",
        [
          entity("P", [name], [toOne("c", "C"), toOne("d", "D", "ps")]), entity("C", [name]),
          entity("D", [name], [toMany("ps", "P", "d")]),
          entity("E", [attribute("x")], [toOne("c", "C"), toOne("own", "E"), toOne("p", "P")]),
        ],
        [
          entity("P", [name], [toOne("c", "C"), toOne("d", "D", "ps")]), entity("C", [name]),
          entity("D", [name], [toMany("ps", "P", "d")]),
          entity("E", [attribute("x")], [toOne("own", "E"), toOne("p", "P")], parent: "P"),
        ]),
    ]
  }()
}
