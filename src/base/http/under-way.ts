/**
 * What is not over yet. A place is used again as soon as it is free. A `Set` would do the same, but the tables it outgrows keep
 * what they held from being collected while it is young, which makes each request a third dearer.
 */
export class UnderWay<T> {
  readonly #places: (T | undefined)[] = [];
  readonly #free: number[] = [];

  /** Gives the place, to leave it. */
  add(one: T): number {
    const place = this.#free.pop() ?? this.#places.length;
    this.#places[place] = one;
    return place;
  }

  leave(place: number): void {
    this.#places[place] = undefined;
    this.#free.push(place);
  }

  all(): readonly T[] {
    return this.#places.filter((one) => one !== undefined);
  }
}
