import Foundation
import Heirloom

let folder = URL(fileURLWithPath: CommandLine.arguments[1])
// (A folder without a model fails.)
let model = Bundle.module.url(forResource: "Diary", withExtension: "xcdatamodeld") ?? folder
let store = try PersistentStore.open(
  at: folder.appending(path: "Diary.sqlite"), history: ModelHistory(contentsOf: model))
let context = ManagedObjectContext(store: store)
for (number, name) in ["Morning", "Evening"].enumerated() {
  let question = try DiaryModel.Question.insert(into: context)
  try question.set(name: name)
  try question.set(orderInList: Int64(number))
  let section = try DiaryModel.SectionRecord.insert(into: context)
  try section.set(name: "Section of \(name)")
  try question.set(section: section)
}
try context.save()
for question in try DiaryModel.Question.fetch(in: context, where: { $0.section.name.hasSuffix("Evening") }) {
  print(try question.name ?? "-", try question.orderInList ?? -1, try question.section?.questions == [question])
}
