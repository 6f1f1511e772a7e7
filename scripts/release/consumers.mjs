export function checkConsumers() {
  return []
}
