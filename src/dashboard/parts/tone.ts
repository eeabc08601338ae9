/** How something stands, for the colour of its badge (state-badge.tsx). Here, so that logic without a browser can say it. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'info';
