/**
 * A clock that can be turned on, for tests that cannot wait for an hour. It is imported before what it is for, or loaded into a
 * program before that starts (`--import`): there each SIGUSR2 makes SECONDS_PER_TURN pass at once. Timers go on as they were.
 */
const Real = Date;
let ahead = 0;

class TurnedDate extends Real {
  constructor(...parts: [] | [number | string | Date]) {
    if (parts.length === 0) super(Real.now() + ahead);
    else super(...(parts as [number]));
  }

  static override now(): number {
    return Real.now() + ahead;
  }
}

globalThis.Date = TurnedDate as DateConstructor;

export function turnClock(seconds: number): void {
  ahead += seconds * 1000;
}

const perTurn = Number(process.env.SECONDS_PER_TURN);
if (perTurn > 0) process.on('SIGUSR2', () => turnClock(perTurn));
