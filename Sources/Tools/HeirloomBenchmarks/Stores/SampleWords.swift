enum SampleWords {
  static let givenNames = [
    "Amara", "Bruno", "Céline", "Dagmar", "Emre", "Freya", "Gustav", "Hana", "Ioana", "Jakub", "Kofi", "Leïla", "Milan",
    "Noor", "Olga", "Pavel", "Quinn", "Rahel", "Søren", "Tamsin", "Ulrike", "Vera", "Wim", "Xenia", "Yusuf", "Zoë",
  ]

  static let familyNames = [
    "Abbott", "Becker", "Castillo", "Dvořák", "Evans", "Fontaine", "Grüber", "Hansen", "Ito", "Jovanović", "Kaya",
    "Lindqvist", "Moreau", "Novak", "O'Connor", "Papadopoulos", "Qureshi", "Romano", "Sánchez", "Tamm", "Usman",
    "van den Broek", "Wójcik", "Xiao", "Yılmaz", "de Zoete",
  ]

  static let words = [
    "breakfast", "the", "harbour", "with", "Anna", "and", "rain", "over", "letters", "of", "a", "long", "walk", "to",
    "station", "book", "about", "islands", "first", "snow", "garden", "under", "old", "trees", "doctor", "at", "noon",
    "tickets", "for", "concert", "piano", "lesson", "forgot", "keys", "again", "bread", "is", "rising", "call", "home",
    "next", "summer", "plan", "boat", "paint", "blue", "door", "market", "apples", "cinnamon", "evening", "light", "on",
    "water", "school", "play", "birthday", "cake", "train", "was", "late", "winter", "coat", "found",
  ]
}
