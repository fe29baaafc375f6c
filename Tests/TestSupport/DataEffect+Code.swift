package import HeirloomMapping

extension DataEffect {
  /// The effect on one line: kind, subject, and the source's entities and properties.
  package var code: String {
    let subject = "\(entity)\(properties.isEmpty ? "" : "." + properties.joined(separator: "+"))"
    let places = rows.map { row in
      let names = row.properties.map { $0 ?? "nothing" }.joined(separator: "+")
      return "\(row.entity)\(names.isEmpty ? "" : "." + names)"
    }
    return "\(kind.code) \(subject) in \(places.joined(separator: ", "))"
  }
}
