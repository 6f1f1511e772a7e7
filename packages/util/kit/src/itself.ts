/** A constructor that returns its argument: a class that extends it puts its private fields on that object, frozen or not. */
export class Itself {
  constructor(object: object) {
    return object
  }
}
