/** Words about reserved names. Pure. */
export const RESERVED = ['reserved-subdomains'] as const;

/** `most`: what the plan has, null for no limit. */
export function roomText(used: number, most: number | null): string | undefined {
  if (most === 0) return undefined;
  if (most === null) return used === 0 ? 'Your plan sets no limit.' : `${used} reserved; your plan sets no limit.`;
  return `${used} of ${most} are in use.`;
}
