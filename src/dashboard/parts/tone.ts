/** The tone of a state, for the color of its badge (state-badge.tsx). Here, so that code without a browser can use it. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'info';
