/** Attacks that an engine does not hold, each with what it does instead. One that it comes to hold is taken off the list. */
import type { Engine } from '../engines.ts';

export const UNENDED: Readonly<Record<Engine, Readonly<Record<string, string>>>> = {
  node: { 'DATA of one byte': 'the connection goes on' },
  own: {},
};
