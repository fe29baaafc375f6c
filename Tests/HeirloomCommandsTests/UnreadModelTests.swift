import Foundation
import HeirloomCommands
import TestSupport
import Testing

/// Models with one typing error each: `check` names it with file and line, and `snapshot` fixes no such model.
struct UnreadModelTests {
  private let directory: TemporaryDirectory
  private var tool: Tool { Tool(directory: directory.url) }

  init() throws { directory = try TemporaryDirectory() }

  static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" systemVersion="23A344" minimumToolsVersion="Automatic" sourceLanguage="Swift" usedWithSwiftData="NO" userDefinedModelVersionIdentifier="">
        <entity name="Note" representedClassName="Note" syncable="YES" codeGenerationType="class">
            <attribute name="day" optional="YES" attributeType="Date" defaultDateTimeInterval="0" usesScalarValueType="NO"/>
            <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
            <attribute name="stars" optional="YES" attributeType="Integer 16" minValueString="0" defaultValueString="0" usesScalarValueType="YES"/>
            <attribute name="title" optional="YES" attributeType="String"/>
            <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Tag" inverseName="notes" inverseEntity="Tag"/>
            <fetchIndex name="byTitle">
                <fetchIndexElement property="title" type="Binary" order="ascending"/>
            </fetchIndex>
            <uniquenessConstraints>
                <uniquenessConstraint>
                    <constraint value="title"/>
                </uniquenessConstraint>
            </uniquenessConstraints>
            <userInfo>
                <entry key="owner" value="sync"/>
            </userInfo>
        </entity>
        <entity name="Tag" representedClassName="Tag" syncable="YES" codeGenerationType="class">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="notes" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Note" inverseName="tags" inverseEntity="Note"/>
        </entity>
        <composite name="Place">
            <attribute name="latitude" optional="YES" attributeType="Double" defaultValueString="0.0"/>
            <userInfo/>
        </composite>
        <fetchRequest name="Starred" entity="Note" predicateString="stars &gt; 3"/>
        <configuration name="Local">
            <memberEntity name="Note"/>
        </configuration>
        <elements>
            <element name="Note" positionX="-63" positionY="-18" width="128" height="149"/>
        </elements>
    </model>

    """

  /// A typing error: what stands there and what was typed, the line, and what the finding names.
  struct Typo: Sendable, CustomTestStringConvertible {
    let old: String
    let typed: String
    let line: Int
    let words: String
    var testDescription: String { typed }

    init(_ old: String, _ typed: String, line: Int, _ words: String) {
      (self.old, self.typed, self.line, self.words) = (old, typed, line, words)
    }
  }

  static let typos: [Typo] = [
    Typo("\"title\" optional", "\"title\" optinal", line: 7, "did you mean \"optional\"?"),
    Typo("uniquenessConstraints>", "uniquenesConstraints>", line: 12, "did you mean <uniquenessConstraints>?"),
    Typo("defaultValueString=\"0\"", "defaultValueString=\"zero\"", line: 6, "\"zero\" of \"defaultValueString\""),
    Typo("defaultValueString=\"0\"", "defaultValueString=\"40000\"", line: 6, "\"40000\" of \"defaultValueString\""),
    Typo("defaultValueString=\"0\"", "defaultValueString=\"0.5\"", line: 6, "\"0.5\" of \"defaultValueString\""),
    Typo("minValueString=\"0\"", "minValueString=\"O\"", line: 6, "\"O\" of \"minValueString\""),
    Typo("TimeInterval=\"0\"", "TimeInterval=\"today\"", line: 4, "\"today\" of \"defaultDateTimeInterval\""),
    Typo("\"Integer 16\"", "\"Integer16\"", line: 6, "unknown type \"Integer16\""),
    Typo("\"title\" optional=\"YES\"", "\"title\" optional=\"YSE\"", line: 7, "\"YSE\" of \"optional\""),
    Typo("\"title\" optional", "\"title\" indexed=\"on\" optional", line: 7, "\"on\" of \"indexed\""),
    Typo("<attribute name=\"title\"", "<atribute name=\"title\"", line: 7, "did you mean <attribute>?"),
    Typo("toMany", "tomany", line: 8, "did you mean \"toMany\"?"),
    Typo("\"Nullify\"", "\"Nulify\"", line: 8, "\"Nulify\" of \"deletionRule\""),
    Typo("destinationEntity=\"Tag\"", "destinationEntity=\"Tga\"", line: 8, "destination \"Tga\""),
    Typo("inverseName=\"notes\"", "inverseName=\"note\"", line: 8, "\"note\" of \"inverseName\""),
    Typo("property=\"title\"", "property=\"tilte\"", line: 10, "\"tilte\""),
    Typo("order=\"ascending\"", "order=\"up\"", line: 10, "unknown order \"up\""),
    Typo("constraint value=\"title\"", "constraint value=\"tilte\"", line: 14, "\"tilte\""),
    Typo("<entry key", "<entry kee", line: 18, "\"key\""),
    Typo("entity name=\"Tag\"", "entity name=\"Tag\" parentEntity=\"Nota\"", line: 21, "parent \"Nota\""),
    Typo("attribute name=\"name\"", "attribute name=\"notes\"", line: 23, "\"notes\" twice"),
    Typo("composite=\"Place\"", "composite=\"Palce\"", line: 5, "\"Palce\""),
    Typo("memberEntity name=\"Note\"", "memberEntity name=\"Noet\"", line: 31, "\"Noet\""),
    Typo("<elements>", "text\n    <elements>", line: 2, "\"text\" of \"model\""),
  ]

  private func write(_ text: String) throws -> (bundle: String, contents: String) {
    let bundle = directory.file("History/Notes.xcdatamodeld").path
    let version = bundle + "/Notes.xcdatamodel"
    try FileManager.default.createDirectory(atPath: version, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: version + "/contents"))
    return (bundle, version + "/contents")
  }

  private func faults(_ bundle: String) throws -> (code: Int32, faults: [[String: Any]]) {
    let outcome = tool("check", bundle, "--json")
    let findings = try #require(try outcome.json()["findings"] as? [[String: Any]])
    return (outcome.code, findings.filter { $0["severity"] as? String == "error" })
  }

  @Test func `what Xcode writes is no finding`() throws {
    let (bundle, _) = try write(Self.model)
    let result = try faults(bundle)
    #expect(result.code == 0 && result.faults.isEmpty, "\(result)")
    #expect(tool("snapshot", bundle, "--history", directory.file("History").path).code == 0)
  }

  @Test(arguments: typos)
  func `a typing error is an error of check, and the model is not fixed`(typo: Typo) throws {
    try #require(Self.model.contains(typo.old))
    let (bundle, contents) = try write(Self.model.replacingOccurrences(of: typo.old, with: typo.typed))
    let result = try faults(bundle)
    let fault = try #require(result.faults.first)
    #expect(result.code == 6 && ["not-read", "unreadable-version"].contains(fault["rule"] as? String), "\(result)")
    #expect(fault["file"] as? String == contents && fault["line"] as? Int == typo.line, "\(fault)")
    let message = fault.sentences
    #expect(message.contains(typo.words) && message.contains("line \(typo.line)"), "\(message)")
    let text = tool("check", bundle, "--annotations", "github").output
    #expect(text.contains(message) && text.contains("contents,line=\(typo.line),title="), "\(text)")

    let folder = directory.file("History").path
    let refused = tool("snapshot", bundle, "--history", folder, "--json")
    #expect(refused.code == 1, "\(refused)")
    #expect(try refused.json()["error"] != nil)
    #expect(!FileManager.default.fileExists(atPath: folder + "/lock.json"))
  }

  @Test func `an expression that can't be read is kept as text, which stops nothing`() throws {
    let (bundle, _) = try write(Self.model.replacingOccurrences(of: "stars &gt; 3", with: "stars &gt; &gt; 3"))
    let outcome = tool("check", bundle)
    #expect(outcome.code == 0 && outcome.output.contains("kept as text only"), "\(outcome)")
    #expect(tool("snapshot", bundle, "--history", directory.file("History").path).code == 0)
  }
}
