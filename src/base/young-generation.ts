import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Less makes a busy gateway copy what is still in use too often, more buys no speed that could be measured. */
const ENOUGH = 32 * 1024 * 1024;

/**
 * Keeps the part of the heap in which objects are born from growing to the 128 MB that V8 takes under load. Its own limit is a flag
 * for the start of a process; how much it grows is looked up each time that it does.
 *
 * And lets objects be born nowhere else. While many servers are being connected to, much of what is made lives long, and V8 concludes that
 * it always will: from then on each call would leave its garbage among the old objects, where collecting is dear.
 */
export function boundYoungGeneration(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  let growing = true;
  new PerformanceObserver(() => {
    if (youngBytes() < ENOUGH === growing) return;
    growing = !growing;
    setFlagsFromString(`--semi-space-growth-factor=${growing ? 2 : 1}`);
  }).observe({ entryTypes: ['gc'] });
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;
}
