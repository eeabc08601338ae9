/** When a device expires, as the form has it. Pure. */

export const TERMS = [
  { value: 'never', label: 'Never', days: 0 },
  { value: '1', label: 'After a day', days: 1 },
  { value: '7', label: 'After a week', days: 7 },
  { value: '30', label: 'After 30 days', days: 30 },
  { value: '90', label: 'After 90 days', days: 90 },
  { value: 'at', label: 'Custom', days: 0 },
] as const;
export type Term = (typeof TERMS)[number]['value'];

const DAY_MS = 86_400_000;

/** `at`: of an `<input type="datetime-local">`, in the reader's time zone. RFC 3339; null: never; undefined: no time was given. */
export function expiryOf(term: Term, at: string, now: number): string | null | undefined {
  if (term === 'never') return null;
  if (term === 'at') return Number.isNaN(Date.parse(at)) ? undefined : new Date(at).toISOString();
  const days = TERMS.find(({ value }) => value === term)?.days ?? 0;
  return new Date(now + days * DAY_MS).toISOString();
}

/** What `<input type="datetime-local">` takes. */
export function localTime(at: string): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`;
}
