/**
 * `npm run fuzz -- [mux|http|http2|smuggling|replay|grants|relay|openapi] [--seconds 60] [--seed N]`: all fuzzers, or one. They stop at the first rule that is broken
 * and name the seed.
 *
 *   mux        honest conversations cut and mixed at random, and hostile bytes (test/fuzz/mux.fuzz.ts)
 *   http       request smuggling, through a whole tunnel to four kinds of service (test/fuzz/http.fuzz.ts)
 *   http2      frames of visitors, valid and changed, into the HTTP/2 engine without sockets; `--cases` counts frames
 *              (test/fuzz/http2.fuzz.ts)
 *   smuggling  the same by the million on an edge without sockets, and hostile responses; for a night `--cases 5000000`
 *              (test/fuzz/smuggling.fuzz.ts)
 *   replay     recorded requests that are sent again, whatever their stored heads hold (test/fuzz/replay.fuzz.ts)
 *   relay      private networks on a node without sockets: forged, repeated and damaged packets (test/fuzz/relay.fuzz.ts)
 *   grants     what can happen to tokens, under live agents: none goes on without a valid grant (test/property/grants.fuzz.ts)
 *   openapi    requests made from the API document, and every response held to it (test/openapi/openapi.fuzz.ts)
 */
import { parseArgs } from 'node:util';
import { fuzzHttpLong } from '../test/fuzz/http.fuzz.ts';
import { fuzzHttp2Long } from '../test/fuzz/http2.fuzz.ts';
import { fuzzMux } from '../test/fuzz/mux.fuzz.ts';
import { fuzzRelay } from '../test/fuzz/relay.fuzz.ts';
import { fuzzReplayLong } from '../test/fuzz/replay.fuzz.ts';
import { fuzzSmugglingLong } from '../test/fuzz/smuggling.fuzz.ts';
import { fuzzOpenapi } from '../test/openapi/openapi.fuzz.ts';
import { fuzzGrants } from '../test/property/grants.fuzz.ts';

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' }, cases: { type: 'string' } },
  allowPositionals: true,
});
const [what] = positionals;
const seconds = Number(values.seconds ?? 60);
const share = what === undefined ? seconds / 8 : seconds;
const seed = Number(values.seed ?? Date.now() % 1_000_000);
if (what === undefined || what === 'mux') await fuzzMux(share, seed);
if (what === undefined || what === 'http') await fuzzHttpLong(share, seed);
// Where a number of cases is given it is run to its end, however long that takes.
const cases = values.cases === undefined ? null : Number(values.cases);
if (what === undefined || what === 'http2')
  await fuzzHttp2Long({ seed, ...(cases === null ? { seconds: share } : { frames: cases }) });
if (what === undefined || what === 'smuggling')
  fuzzSmugglingLong({ seed, ...(cases === null ? { seconds: share } : { cases }) });
if (what === undefined || what === 'replay') fuzzReplayLong(share, seed);
if (what === undefined || what === 'relay') fuzzRelay(share, seed);
if (what === undefined || what === 'grants') await fuzzGrants(share, seed);
if (what === undefined || what === 'openapi') await fuzzOpenapi(share, seed);
