/** A WebSocket of a request: its duration, counts, close code and recorded frames. */
import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { bytesText, countText } from '../../../parts/format.ts';
import { bytesOf, textOf } from '../body/bytes.ts';
import { TextView } from '../body/message-views.tsx';
import { type Piece, PieceList } from '../body/piece-list.tsx';
import { HexView } from '../body/raw-text.tsx';
import type { Detail } from '../messages.ts';
import { Section } from '../section.tsx';
import {
  closeText,
  durationWords,
  type Frame,
  frameFacts,
  frameTitle,
  type WebSocketFacts,
} from './websocket-words.ts';

interface ViewProps {
  readonly detail: Detail;
  readonly websocket: WebSocketFacts;
}

export function WebSocketView({ detail, websocket }: ViewProps) {
  return (
    <Stack>
      <Section title="Connection">
        <dl className="culvert-facts">
          <Fact title="Duration" words={durationWords(websocket)} />
          <Fact
            title="Frames"
            words={`${countText(websocket.frames_in)} in, ${countText(websocket.frames_out)} out${websocket.valid_frames ? '' : '; other data followed'}`}
          />
          <Fact title="Bytes" words={`${bytesText(websocket.bytes_in)} in, ${bytesText(websocket.bytes_out)} out`} />
          <Fact title="Close" words={closeText(websocket)} />
        </dl>
      </Section>
      <Section title="Frames">
        <Frames detail={detail} websocket={websocket} />
      </Section>
    </Stack>
  );
}

function Fact({ title, words }: { readonly title: string; readonly words: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{words}</dd>
    </div>
  );
}

function Frames({ detail: { tunnel_id: tunnel, websocket_frames: frames }, websocket }: ViewProps) {
  if (frames === null)
    return (
      <Text size="sm" c="dimmed">
        {websocket.open ? 'No frames recorded yet, or recording of frames was off.' : 'Frames were not recorded.'} Turn
        it on in the{' '}
        <Anchor component={Link} href={`/tunnels/${tunnel}?tab=recording`} inherit underline="always">
          recording settings
        </Anchor>{' '}
        of the tunnel.
      </Text>
    );
  const left = websocket.frames_not_recorded;
  return (
    <>
      <Text size="xs" c="dimmed">
        {frames.length === 0
          ? 'No frames.'
          : '→ from the visitor, ← from your service. Fragments of a message are joined.'}
        {left > 0 && ` ${countText(left)} more exceeded the limits and were not recorded.`}
      </Text>
      {frames.length > 0 && <PieceList label="Frames" pieces={frames.map(framePiece)} />}
    </>
  );
}

function framePiece(frame: Frame): Piece {
  const bytes = bytesOf(frame.data);
  // The facts show the code of a close frame.
  const said = frame.opcode === 'close' ? bytes.subarray(2) : bytes;
  const text = frame.compressed ? undefined : textOf(said);
  const title = frameTitle(frame);
  return {
    title,
    facts: frameFacts(frame, bytes),
    preview: text ?? '',
    tone: frame.from === 'visitor' ? 'in' : 'out',
    content: () => (text === undefined ? <HexView bytes={bytes} /> : <FrameText text={text} title={title} />),
  };
}

function FrameText({ text, title }: { readonly text: string; readonly title: string }) {
  if (text !== '') return <TextView text={text} label={title} />;
  return (
    <Text size="xs" c="dimmed">
      Empty.
    </Text>
  );
}
