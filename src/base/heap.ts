import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Of the young generation. Less makes a busy gateway copy what is still in use too often, more buys no speed that could be measured. */
const ENOUGH = 16 * 1024 * 1024;
/** By how many percent the old generation may grow before it is collected. */
const GROWTH = 50;

/**
 * Keeps a busy process small. V8 prefers to grow: to 128 MB for the part of the heap in which objects are born, and several times over
 * for the rest before it looks there. Its limits are flags for the start of a process, so what still can be set is set here.
 */
export function keepHeapSmall(): void {
  // While many servers are being connected to, much of what is made lives long, and V8 concludes that it always will: each call
  // would leave its garbage among the old objects from then on, where collecting is dear.
  setFlagsFromString('--no-allocation-site-pretenuring');
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
  boundYoungGeneration();
}

/** How much the young generation grows is looked up by V8 each time that it does. */
function boundYoungGeneration(): void {
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
