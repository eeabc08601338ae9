/** What differs between two recorded requests. Pure: tested without a browser. */
import { bytesText, durationText } from '../../../parts/format.ts';
import { setOutJson } from '../body/json-text.ts';
import { decisionText, type Detail, statusText } from '../messages.ts';
import { COVER, isSecret } from '../secret-fields.ts';

export interface FactRow {
  readonly title: string;
  readonly left: string;
  readonly right: string;
}

/** What a reader compares first: how each was answered. */
export function answerFacts(left: Detail, right: Detail): FactRow[] {
  return [
    row('Status', statusText(left.status), statusText(right.status)),
    row('Decision', decisionText(left), decisionText(right)),
    row('Duration', durationText(left.latency_ms), durationText(right.latency_ms)),
    row('Response size', bytesText(left.response_size), bytesText(right.response_size)),
  ];
}

export function requestFacts(left: Detail, right: Detail): FactRow[] {
  return [
    row('Method', left.method, right.method),
    row('Path', left.path, right.path),
    row('Host', left.host, right.host),
    row('Visitor', left.remote_ip, right.remote_ip),
    row('Request size', bytesText(left.request_size), bytesText(right.request_size)),
  ];
}

function row(title: string, left: string, right: string): FactRow {
  return { title, left, right };
}

interface Field {
  readonly name: string;
  readonly value: string;
}

export interface FieldRow {
  readonly name: string;
  /** Undefined: it is not there. */
  readonly left: string | undefined;
  readonly right: string | undefined;
}

export interface ComparedFields {
  readonly changed: readonly FieldRow[];
  /** How many names have the same values in both. */
  readonly same: number;
}

/** By name in any case; the values of a repeated name in their order. Credentials stay covered: only that they differ is said. */
export function compareFields(left: readonly Field[], right: readonly Field[]): ComparedFields {
  const [before, after] = [grouped(left), grouped(right)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const changed = names.filter((name) => before.get(name) !== after.get(name));
  const shown = (name: string, value: string | undefined): string | undefined =>
    value !== undefined && isSecret(name) ? COVER : value;
  return {
    changed: changed.map((name) => ({
      name,
      left: shown(name, before.get(name)),
      right: shown(name, after.get(name)),
    })),
    same: names.length - changed.length,
  };
}

function grouped(fields: readonly Field[]): Map<string, string> {
  const groups = new Map<string, string>();
  for (const { name, value } of fields) {
    const key = name.toLowerCase();
    const before = groups.get(key);
    groups.set(key, before === undefined ? value : `${before}\n${value}`);
  }
  return groups;
}

/** The lines of a body; JSON is set out first, so that what differs by its blanks alone is the same. */
export function bodyLines(text: string): string[] {
  const json = /^\s*[[{]/.test(text) ? setOutJson(text) : undefined;
  const whole = json === undefined || json.isCut ? text : json.pieces.map((piece) => piece.text).join('');
  return whole.split(/\r\n|\r|\n/);
}
