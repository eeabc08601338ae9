/** How the texts of a code become one. */

/** What happened and what to do, in one text. */
export function explain({ cause, fix }: { readonly cause: string; readonly fix?: string }): string {
  return fix === undefined ? cause : `${cause} ${fix}`;
}
