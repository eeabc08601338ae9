/** Whether new requests come by themselves. */
import { Text } from '@mantine/core';
import type { FeedState } from './feed.ts';

const WORDS: Readonly<Record<FeedState, string>> = {
  connecting: 'Connecting',
  live: 'Live',
  cut: 'Not connected, trying again',
};

export function FeedSign({ feed, isPaused }: { readonly feed: FeedState; readonly isPaused: boolean }) {
  const isHeld = isPaused && feed === 'live';
  return (
    <Text size="sm" role="status" className="culvert-feed" data-feed={isHeld ? 'paused' : feed}>
      {isHeld ? 'Paused' : WORDS[feed]}
    </Text>
  );
}
