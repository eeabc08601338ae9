/** Our colour and the greys of the dark scheme, from the lightest to the darkest: those of the pages that edge and API make by themselves. For theme.ts. */

export const CULVERT = [
  '#e9f7f3',
  '#d3ede5',
  '#a5dccb',
  '#7dd1b8',
  '#57c7aa',
  '#37b393',
  '#22997b',
  '#148067',
  '#0b6b57',
  '#075445',
] as const;
export const DARK = [
  '#e6ebe9',
  '#c3ccc8',
  '#9aa7a2',
  '#6f7c77',
  '#37413e',
  '#262e2b',
  '#1b211f',
  '#161b1a',
  '#121615',
  '#0c100f',
] as const;
