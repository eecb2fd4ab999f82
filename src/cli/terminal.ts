import { SallyError } from '../base/index.ts';

/** What we need of stdin. */
export type Input = Pick<NodeJS.ReadStream, 'on' | 'off' | 'pause' | 'resume' | 'isTTY'> &
  Partial<Pick<NodeJS.ReadStream, 'setRawMode'>>;

export interface Terminal {
  /** Somebody sits there who can answer. */
  readonly canAsk: boolean;
  ask(question: string): Promise<string>;
  /** Shows nothing of what is typed. */
  askHidden(question: string): Promise<string>;
  /** Everything that was piped in. */
  readAll(most: number): Promise<string>;
}

const ENTER = /[\r\n]/;
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const ERASE = /[\b\u007f]/;

/** Asks on stderr, so that answers of commands stay alone on stdout, and reads lines from stdin. */
export function createTerminal(input: Input, err: (text: string) => void): Terminal {
  let waiting = ''; // what was typed or pasted ahead of the next question

  async function* chunks(): AsyncGenerator<string> {
    const queue: (string | undefined)[] = [];
    let wake = (): void => {};
    const decoder = new TextDecoder();
    const onData = (chunk: Uint8Array): void => {
      queue.push(decoder.decode(chunk, { stream: true }));
      wake();
    };
    const onEnd = (): void => {
      queue.push(undefined);
      wake();
    };
    input.on('data', onData).on('end', onEnd).on('error', onEnd);
    input.resume();
    try {
      for (;;) {
        if (queue.length === 0)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const chunk = queue.shift();
        if (chunk === undefined) return;
        yield chunk;
      }
    } finally {
      input.off('data', onData).off('end', onEnd).off('error', onEnd);
      input.pause();
      waiting += queue.filter((chunk) => chunk !== undefined).join('');
    }
  }

  /** One line. In raw mode the keys that edit and end it are ours to understand. */
  async function readLine(raw: boolean): Promise<string> {
    let line = '';
    const take = (text: string): boolean => {
      for (const [at, key] of [...text].entries()) {
        if (ENTER.test(key)) {
          waiting = [...text]
            .slice(at + 1)
            .join('')
            .replace(/^\n/, '');
          return true;
        }
        if (key === CTRL_C || (key === CTRL_D && line === '')) throw cancelled();
        if (raw && key === CTRL_U) line = '';
        else if (raw && ERASE.test(key)) line = [...line].slice(0, -1).join('');
        else line += key;
      }
      return false;
    };
    const ahead = waiting;
    waiting = '';
    if (take(ahead)) return line;
    for await (const chunk of chunks()) if (take(chunk)) return line;
    throw cancelled();
  }

  return {
    canAsk: input.isTTY === true,
    async ask(question) {
      err(question);
      return (await readLine(false)).trim();
    },
    async askHidden(question) {
      err(question);
      input.setRawMode?.(true);
      try {
        return await readLine(true);
      } finally {
        input.setRawMode?.(false);
        err('\n');
      }
    },
    async readAll(most) {
      let text = '';
      for await (const chunk of chunks()) {
        text += chunk;
        if (text.length > most)
          throw new SallyError('usage.invalid', `more than ${most} characters came in`, {
            hint: 'a secret is smaller',
          });
      }
      return text;
    },
  };
}

function cancelled(): SallyError {
  return new SallyError('usage.cancelled', 'ended at a question, nothing was changed', {
    hint: 'run it again to answer',
  });
}
