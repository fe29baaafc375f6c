import HeirloomModel
import Testing

struct DigestTests {
  // The examples of FIPS 180-4 and NIST's test vectors; lengths around the padding's edges were made with sha256sum.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (String(repeating: "a", count: 55), "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (String(repeating: "a", count: 64), "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
    (String(repeating: "a", count: 1000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
  ])
  func `SHA-256 of known text`(text: String, digest: String) {
    #expect(SHA256.digest(text.utf8).hexadecimal == digest)
  }

  @Test(arguments: 0...200)
  func `a SHA-256 digest doesn't depend on the pieces`(length: Int) {
    let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let whole = SHA256.digest(bytes)
    for piece in [1, 3, 55, 64, 65, 150] {
      var digest = SHA256()
      for start in stride(from: 0, to: length, by: piece) { digest.update(bytes[start..<min(start + piece, length)]) }
      #expect(digest.finalize() == whole)
    }
  }

  @Test(arguments: [
    (
      "",
      "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
        + "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e"
    ),
    (
      "abc",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    ),
    (
      String(repeating: "a", count: 112),
      "c01d080efd492776a1c43bd23dd99d0a2e626d481e16782e75d54c2503b5dc32"
        + "bd05f0f1ba33e568b88fd2d970929b719ecbb152f58f130a407c8830604b70ca"
    ),
  ])
  func `SHA-512 of known text`(text: String, digest: String) {
    #expect(SHA512.digest(text.utf8).hexadecimal == digest)
  }

  @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")])
  func `base64 of known text`(text: String, encoded: String) {
    #expect(Array(text.utf8).base64 == encoded)
  }
}
