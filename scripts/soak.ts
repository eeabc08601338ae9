/**
 * `npm run soak`: what takes minutes to show.
 *
 *   npm run soak -- [--requests 10000] [--seed N]   mixed requests with aborts and slow readers (test/soak/mixed.ts)
 *   npm run soak -- chaos [--rounds 50]             the path breaks, and comes back by itself (scripts/chaos/run.ts)
 *   npm run soak -- writes [--writes 20000]         acknowledged writes under kill -9, a full and a slow disk (scripts/chaos/writes/run.ts)
 *   npm run soak -- upgrade [--rounds 20]           upgrades and rollbacks under 300 req/s (scripts/chaos/upgrade/run.ts)
 *   npm run soak -- inspector [--minutes 10]        more requests than may be recorded (test/soak/inspector.ts)
 *   npm run soak -- testssl                         what testssl.sh says of edge and API (test/soak/testssl.ts)
 */
const [first, ...rest] = process.argv.slice(2);
const good =
  first === 'chaos'
    ? await (await import('./chaos/run.ts')).chaos(rest)
    : first === 'writes'
      ? await (await import('./chaos/writes/run.ts')).writes(rest)
      : first === 'upgrade'
        ? await (await import('./chaos/upgrade/run.ts')).upgrades(rest)
        : first === 'testssl'
          ? await (await import('../test/soak/testssl.ts')).testssl()
          : first === 'inspector'
            ? await (await import('../test/soak/inspector.ts')).inspectorSoak(rest)
            : await (await import('../test/soak/mixed.ts')).soak(process.argv.slice(2));
process.exitCode = good ? 0 : 1;
