/** How good or bad something is: what colours are made of. Apart from state-badge.tsx, for words that tests read without a browser. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'info';
