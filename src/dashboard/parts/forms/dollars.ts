/** US cents of what people write as dollars, and back. By its characters: numbers with a point would make 0.29 dollars 28.999… cents. */

/** What a key may be capped at, as the API has it. */
const MOST_CENTS = 1_000_000_000;

const DOLLARS = /^\$?\s*(\d{1,3}(?:,\d{3})+|\d{1,9})(?:\.(\d{1,2}))?$/;

/** "12.5" → 1250, "1,000" → 100000; null for nothing at all, undefined for what is no amount or too large. */
export function centsOf(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const [, dollars, cents = ''] = DOLLARS.exec(trimmed) ?? [];
  if (dollars === undefined) return undefined;
  const sum = Number(dollars.replaceAll(',', '') + cents.padEnd(2, '0'));
  return sum <= MOST_CENTS ? sum : undefined;
}

/** 1250 → "12.50": what `centsOf` reads. */
export function dollarsOf(cents: number): string {
  const digits = String(cents).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export const NO_AMOUNT = 'Enter US dollars, such as 12.50, up to 10,000,000.';
