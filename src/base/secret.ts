import { inspect } from 'node:util';

const SHOWN = '[secret]';

/** A value that must not be seen. However it is printed, logged or serialised, it shows as `[secret]`; only `reveal()` gives it out. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}
