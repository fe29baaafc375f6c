extension FuzzSeeds {
  static let expressions = [
    "items.@count", "chat.serverId", "canonical:(name)", "now()", "count:(items)", "sum:(items.price)",
    "uppercase(name)",
    "add:to:(1, 2)", "SELF", "self.name", "orders.@distinctUnionOfSets.items.name", "#size", "a.#in.#size",
    "$FETCH_SOURCE.name", "(a).b", "a[0]", "a[FIRST].b", "a[size + 1]", "a[\"key\"]", "{1, 'two', NIL}", "{}",
    "a + b * c",
    "(a + b) * c", "a - b - c", "a ** b ** c", "a / -2", "-a", "n & 4 | 1", "n << 3 ^ ~1", "n >> 70",
    "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', \"A\", $source.mood)",
    "SUBQUERY(items, $x, $x.price > 3).@count", "TERNARY(a == 1, b, c)", "CAST(b, 'NSString')", "CAST(10.5, 'NSDate')",
    "CAST('00ff', 'NSData')", "CAST('NSString', 'Class')", "a UNION b MINUS {1}", "TRUE", "0x1F",
    "-9223372036854775808",
    "9223372036854775808", "-1.5e3", ".5", "2E-2", #""a\"b\\c\n\u00e9\ud83d\ude00'""#, #"'it\'s'"#, "modulus:by:(n, 0)",
    "average:(items.price)", "stddev:(items.price)", "median:(items.price)", "mode:(items.price)", "max:(items.name)",
    "FETCH(FUNCTION($manager, 'a:', 'b'), $manager.sourceContext, NO)", "trunc:(x)", "ceiling:(x)", "sqrt:(-1)",
    "random:(n)", "log:(0)", "exp:(1000)", "abs:(-9223372036854775808)", "onesComplement:(n)", "length:(name)",
    "distinct:(items.name)", "castObject:toType:(\"1e400\", \"NSDecimalNumber\")", "items.@max.price",
    "items.tags.@count",
  ]

  static let predicates = [
    "TRUEPREDICATE", "a == 1 AND b == 2 && NOT (n == 3)", "a == 1 OR b != 2 || n <> 3", "name BEGINSWITH[cd] 'It'",
    "name ENDSWITH 'x'", "name CONTAINS[n] \"item\"", "name LIKE[c] '*it?m*'", "name MATCHES '(a+)+b'",
    "title MATCHES[c] '^(?:[a-c]|\\\\d{1,40})*$'", "name IN {'a', 'b'}", "n BETWEEN {1, 10}", "ANY items.name == 'x'",
    "ALL items.price > 3", "NONE items.name LIKE 'x*'", "SOME items.price == nil",
    "SUBQUERY(items, $x, $x.name == 'one').@count > 0",
    "items.@count > 1", "list.name == 'one'", "list.user.name ==[cd] $v", "SELF == $source", "SELF IN items",
    "createdAt > now()",
    "done == YES", "createdAt > CAST(1, 'NSDate')", "!(name == nil)", "TERNARY(done == YES, name, 'x') == 'x'",
    "uppercase:(name) == 'ITEM 1'", "name == name", "1 == 1", "nil == nil", "name > 5", "'x' IN name", "@count > 1",
    "user.items.@avg.createdAt > 1", "ANY user.lists.items.name CONTAINS 'i'", "name.length > 3", "createdAt - 1 > 0",
    "updatedAt == nil AND (list.name != nil OR user == nil)", "length:(name) > 2", "{1, 2} == {1, 2}", "name ==[l] 'x'",
  ]

  /// Logs with version hashes in several dialects.
  static let logs = [
    """
    2016-02-12 21:13:32.873 App[1067:83737] CoreData: error: returned error Error Domain=NSCocoaErrorDomain Code=134100 "(null)" UserInfo={metadata={
        NSPersistenceFrameworkVersion = 641;
        NSStoreModelVersionChecksumKey = "n+kk0f+uLXPDvdioHyMqmLay6VQ65HLL8r1c4DUtcII=";
        NSStoreModelVersionHashes =     {
            "My_Note" = <2dfadfde 9f70b27e 16f7b6de 72310bdf 0c52bafe 3bba15ea 509e7dcc eeb8d43a>;
            Tag = {length = 32, bytes = 0x8910c83c cf414724 f6a2bbcb 597f384c ... de6ec5db 30a757c4 };
            Mood = <private>;
        };
        NSStoreModelVersionHashesVersion = 3;
        NSStoreModelVersionIdentifiers =     (
            "1.0"
        );
    }, reason=x} and current model versions = { Tag = {length = 32, bytes = 0x8910c83c cf41
    """,
    #"{"asi":["metadata={\n    NSStoreModelVersionHashes = {\n \"N\\U00e9\" = <"# + String(repeating: "0a", count: 32)
      + #">;\n };\n}"]}"#,
    #"["NSStoreModelVersionHashes": ["Note": 32 bytes], AnyHashable("x"): Optional([1, 2])] [ "A": [0x0, 0x1, 0x2, 0x3] ]"#,
    """
    <plist><dict><key>NSStoreModelVersionHashes</key><dict><key>Note</key>
    <data>
    Gl79yicU/qMmmjW+02T6r/N/3wY/MXt1/ETG6BgiQvk=
    </data></dict><key>NSStoreModelVersionIdentifiers</key><array><string>1</string></array></dict></plist>
    """,
    #"{"NSStoreModelVersionHashes":{"Note":"Gl79yicU\/qMmmjW+02T6r\/N\/3wY\/MXt1\/ETG6BgiQvk="}} Note: "#
      + String(repeating: "12", count: 32),
  ]

  /// A mapping model as Xcode keeps it, in the XML store that Core Data had.
  static let mappingSource = """
    <?xml version="1.0"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
    <database>
      <databaseInfo><version>134481920</version><UUID>A0B1C2D3-0000-0000-0000-000000000000</UUID>
        <nextObjectID>106</nextObjectID><metadata><plist version="1.0"><dict>
          <key>NSPersistenceFrameworkVersion</key><integer>519</integer>
          <key>NSStoreModelVersionHashes</key><dict><key>XDDevAttributeMapping</key><data>AAAA</data></dict>
        </dict></plist></metadata></databaseInfo>
      <object type="XDDEVATTRIBUTEMAPPING" id="z102">
        <attribute name="name" type="string">name</attribute>
        <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z104"></relationship>
      </object>
      <object type="XDDEVATTRIBUTEMAPPING" id="z103">
        <attribute name="name" type="string">updatedAt</attribute>
        <attribute name="expressionstring" type="string">$source.createdAt</attribute>
        <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z104"></relationship>
      </object>
      <object type="XDDEVENTITYMAPPING" id="z104">
        <attribute name="migrationpolicyclassname" type="string">App.ItemPolicy</attribute>
        <attribute name="mappingtypename" type="string">Undefined</attribute>
        <attribute name="mappingnumber" type="int16">1</attribute>
        <attribute name="destinationname" type="string">Item</attribute>
        <attribute name="sourcename" type="string">Item</attribute>
        <attribute name="autogenerateexpression" type="bool">1</attribute>
        <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z105"></relationship>
        <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z102 z103"></relationship>
        <relationship name="relationshipmappings" type="0/0" destination="XDDEVRELATIONSHIPMAPPING" idrefs="z106"></relationship>
      </object>
      <object type="XDDEVMAPPINGMODEL" id="z105">
        <attribute name="sourcemodelpath" type="string">Done.xcdatamodeld/Done.xcdatamodel</attribute>
        <attribute name="destinationmodelpath" type="string">Done.xcdatamodeld/Done 2.xcdatamodel</attribute>
        <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z104"></relationship>
      </object>
      <object type="XDDEVRELATIONSHIPMAPPING" id="z106">
        <attribute name="name" type="string">list</attribute>
        <relationship name="entitymapping" type="1/1" destination="XDDEVENTITYMAPPING" idrefs="z104"></relationship>
      </object>
    </database>
    """
}
