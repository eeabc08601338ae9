/** Why the engine under test may differ from node:http2: each kind of difference by name. */
import type { Engine } from '../engines.ts';
import type { Reason } from './compare.ts';

const EARLY = '"end":"reset 0"';
const WHOLE = '"end":"whole"';

/** nghttp2 leaves out END_STREAM where an answer is whole before its request: it sends RST_STREAM with NO_ERROR (RFC 9113 §8.1). */
const earlyAnswer: Reason = {
  name: 'early answer of node:http2',
  kind: 'answer',
  because:
    'END_STREAM comes before RST_STREAM in an engine of our own, so that a body without a length is known to be whole',
  applies: (_exchange, { oracle, own }) => oracle.replace(EARLY, WHOLE) === own,
};

export const REASONS: Readonly<Record<Engine, readonly Reason[]>> = {
  node: [
    // Which of two has it is chance.
    {
      ...earlyAnswer,
      applies: (_exchange, { oracle, own }) => oracle.replace(EARLY, WHOLE) === own.replace(EARLY, WHOLE),
    },
  ],
  own: [earlyAnswer],
};
