import { type FSWatcher, watch } from 'node:fs';

/** When a file was replaced. */
export interface Changes extends Disposable {
  /** Resolves with the next change since it was last asked, or after so many milliseconds. */
  next(within: number): Promise<void>;
}

export function changesOf(folder: string, file: string): Changes {
  let isChanged = false;
  let wake = (): void => {};
  const watcher = watching(folder, (name) => {
    if (name !== file) return;
    isChanged = true;
    wake();
  });
  return {
    async next(within) {
      if (!isChanged) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, within);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isChanged = false;
    },
    [Symbol.dispose]: () => watcher?.close(),
  };
}

/** Systems have a limit for watches, and some folders report nothing. Then time alone tells. */
function watching(folder: string, changed: (file: string | null) => void): FSWatcher | undefined {
  try {
    return watch(folder, (_, file) => changed(file)).on('error', () => {});
  } catch {
    return undefined;
  }
}
