/** The long form of the HTTP fuzzing, for `npm run fuzz`. Prints the seed, and what was found. */
import { fuzzHttp } from './http.ts';
import { noOrigin, type OriginName } from './http-origins.ts';

const NAMES: readonly OriginName[] = ['node', 'go', 'python', 'nginx'];

/** Sends hostile requests to each kind of service for its share of `seconds`. Throws at the first that is smuggled. */
export async function fuzzHttpLong(seconds: number, seed: number): Promise<void> {
  console.log(`http: seed ${seed}, ${seconds / NAMES.length} s for each service`);
  for (const name of NAMES) {
    const without = noOrigin(name);
    if (without !== false) {
      console.log(`${name}: ${without}`);
      continue;
    }
    const closers: Array<() => void | Promise<void>> = [];
    try {
      const report = await fuzzHttp(
        name,
        { seed, seconds: seconds / NAMES.length },
        { after: (close) => void closers.push(close) },
      );
      const { cases, forwarded, stricter, laxer, refused } = report;
      console.log(
        `${name}: ${cases} cases, ${forwarded} requests forwarded, none smuggled; stricter than llhttp in ${stricter}`,
      );
      for (const [what, map] of [
        ['llhttp refuses what the edge takes', laxer],
        ['the service refuses what the edge sends', refused],
      ] as const)
        for (const [code, { count, example }] of map)
          console.log(`  ${what}: ${code}, ${count} times, as in ${JSON.stringify(example)}`);
    } finally {
      for (const close of closers.reverse()) await close();
    }
  }
}
