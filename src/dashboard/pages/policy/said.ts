/** What the server has against a policy, taken apart so that each part stands at the action that it names. Pure. */
import { type Faults, placeOf } from './check.ts';

const BEGINNING = 'The policy is invalid: ';
/** `actions.2.path_prefix: must begin with a /`, or with the place of an entry behind the field. */
const AT_ACTION = /^actions\.(\d+)(?:\.([a-z_]+)(?:\.\d+)?)?: (.+)$/;

export interface Said {
  readonly faults: Faults;
  /** What belongs to no action; undefined: nothing. */
  readonly rest: string | undefined;
}

/** `message`: of a 400 `bad_policy`. */
export function saidOf(message: string): Said {
  if (!message.startsWith(BEGINNING)) return { faults: new Map(), rest: message };
  const faults = new Map<string, string>();
  const rest: string[] = [];
  for (const part of message.slice(BEGINNING.length).replace(/\.$/, '').split('; ')) {
    const [, index, field = 'kind', why] = AT_ACTION.exec(part) ?? [];
    if (index === undefined || why === undefined) rest.push(part);
    else faults.set(placeOf(Number(index), field), why);
  }
  return { faults, rest: rest.length === 0 ? undefined : `${BEGINNING}${rest.join('; ')}.` };
}
