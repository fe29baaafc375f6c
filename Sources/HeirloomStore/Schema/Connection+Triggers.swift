import Foundation

extension Connection {
  /// Core Data uses two of them to find out what a trigger changed; here they do nothing.
  package func registerCoreDataFunctions() throws(SQLiteError) {
    for name in PhysicalName.triggerFunctions {
      try registerFunction(name, argumentCount: 5) { _ in .null }
    }
    try registerFunction(PhysicalName.nowFunction, argumentCount: 0) { _ in
      .real(Date().timeIntervalSinceReferenceDate)
    }
  }
}
