/**
 * Requests as the inspector knows them: recorded by the data plane, stored and shown by the control plane. Plain cloneable data. A record has
 * no promise behind it: what a node can't keep it drops, and counts what it has dropped.
 */

/** How an action of a policy, or a gate, answered; in the order in which they were asked. */
export interface TraceStep {
  /** Kind of the action (`deny`, `jwt_validation`, …), `basic_gate`, `visitor_gate`, or `visitor_sign_in`: a path of the sign-in itself; `agent_wait`: no agent was online. */
  readonly step: string;
  /** Place of the action in the policy; null: it is none. */
  readonly index: number | null;
  /** `beside`: an action that is only tried finds it out beside the request. */
  /** Of an action that did not let it pass: its rule, as it was then (policy.ts). Of `agent_wait`: how long, `312 ms`. Else null. */
  readonly rule: string | null;
  readonly verdict: 'passed' | 'refused' | 'would_refuse' | 'beside';
  /** Error code of a refusal. */
  readonly code: string | null;
}

/** What was replaced in a record. `body`: it could not be read as the rules want, so the rest of it is not there. */
export interface MaskedPart {
  readonly side: 'request' | 'response';
  readonly kind: 'header' | 'json_path' | 'query' | 'form' | 'body';
  /** Of the rule; empty for `body`. */
  readonly name: string;
}

/** What the edge decided about a request, and how long each part took. */
export interface Trace {
  /** `forwarded`: the visitor got the service's answer; `refused`: the edge did not pass it on, or its visitor left before it could; `failed`: it passed, and no whole answer came. */
  readonly outcome: 'forwarded' | 'refused' | 'failed';
  /** Error code of the edge, when it answered by itself or cut the answer. */
  readonly code: string | null;
  readonly host: string;
  readonly scheme: 'http' | 'https';
  readonly httpVersion: '1.0' | '1.1' | '2';
  readonly steps: readonly TraceStep[];
  /** The session that carried it; null: none did. */
  readonly agentId: string | null;
  readonly tokenId: string | null;
  /** Whether the local connection was a kept one; null: there was none. */
  readonly connection: 'fresh' | 'kept' | null;
  /** A kept connection turned out to be closed: sent once more on a fresh one. */
  readonly retried: boolean;
  /** Milliseconds from the head's arrival: until the policy had decided, until the service's head came (null: none came). */
  readonly policyMs: number;
  readonly firstByteMs: number | null;
  /** Trailers of the service's answer as they passed, a line with its CR LF for each, latin1; left out: there were none. */
  readonly trailers?: string;
  /** By the rules of the tunnel, before it was stored; left out: nothing. */
  readonly masked?: readonly MaskedPart[];
  /** W3C trace id: of the visitor's traceparent, or begun here; left out: there is none. */
  readonly traceId?: string;
}

/** One request and its response. */
export interface InspectedRequest {
  /** UUIDv7, made by the node. */
  readonly id: string;
  readonly tunnelId: string;
  readonly orgId: string;
  /** When its head came, milliseconds since the epoch. */
  readonly at: number;
  readonly method: string;
  /** Request target as the visitor sent it, query included. */
  readonly target: string;
  /** What the visitor got; 0: nothing. */
  readonly status: number;
  /** From the head's arrival to the end of the answer; of an upgrade, to its head: the rest is in `websocket`. */
  readonly latencyMs: number;
  /** Bytes of the bodies, without what frames chunks. */
  readonly requestSize: number;
  readonly responseSize: number;
  readonly remoteIp: string;
  /** The head as the service got it; of a refused request as the visitor sent it, without what says who that is. */
  readonly requestHead: Uint8Array;
  /** The head as the service sent it; null: none came. */
  readonly responseHead: Uint8Array | null;
  readonly requestBody: Uint8Array;
  /** Only its beginning is kept; or the request was over before all of its body had come. */
  readonly requestBodyTruncated: boolean;
  readonly responseBody: Uint8Array;
  readonly responseBodyTruncated: boolean;
  /** Record that this one repeats; null: a visitor sent it. */
  readonly replayOf: string | null;
  readonly trace: Trace;
  /** Left out: not upgraded, or nothing is known yet of the upgraded connection. Comes by updates, never with the record itself. */
  readonly websocket?: RecordedWebSocket;
}

/** Facts of an upgraded connection until now, or until its end. Frames are those of RFC 6455. */
export interface WebSocketFacts {
  readonly isOpen: boolean;
  /** From the upgrade on, milliseconds. */
  readonly durationMs: number;
  /** From the visitor, and to the visitor. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly framesIn: number;
  readonly framesOut: number;
  /** False: something has passed that is no frame, and the count of its direction ended there. */
  readonly isFramed: boolean;
  /** The side that sent the first close frame, and the code in it; null: none has passed, or it has none. */
  readonly closedBy: 'visitor' | 'service' | null;
  readonly closeCode: number | null;
  /** Messages and control frames that were not recorded: there was no room, or the last one never ended. 0 where frames are not recorded at all. */
  readonly framesLeftOut: number;
}

/** A control frame, or a whole message: its frames are joined. */
export interface RecordedFrame {
  readonly from: 'visitor' | 'service';
  /** Of its first byte, milliseconds from the upgrade on. */
  readonly atMs: number;
  /** 1 text, 2 binary, 8 close, 9 ping, 10 pong. */
  readonly opcode: number;
  /** Frames of the message. */
  readonly fragments: number;
  /** Bytes of the whole payload, as it passed. */
  readonly size: number;
  /** `bytes` are compressed (permessage-deflate). */
  readonly isCompressed: boolean;
  /** Its beginning is kept, or nothing: `bytes` is not all of it. */
  readonly isTruncated: boolean;
  /** Unmasked. */
  readonly bytes: Uint8Array;
}

/** WebSocket part of a record of status 101. `frames`: null if they are not recorded. */
export interface RecordedWebSocket extends WebSocketFacts {
  readonly frames: readonly RecordedFrame[] | null;
}

/** Update of an upgraded connection. */
export interface WebSocketUpdate extends WebSocketFacts {
  /** The record of its request. */
  readonly id: string;
  readonly tunnelId: string;
  readonly orgId: string;
  /** All that are recorded until now; null: those of the last report that had some. */
  readonly frames: readonly RecordedFrame[] | null;
}

/** Requests of one tunnel that were not recorded since the last batch. */
export interface UnrecordedCount {
  readonly tunnelId: string;
  readonly orgId: string;
  readonly count: number;
}

/** The bytes of all its records lie in one buffer: who keeps a part of one for long copies it. */
export interface InspectionBatch {
  readonly records: readonly InspectedRequest[];
  readonly unrecorded: readonly UnrecordedCount[];
  /** Of upgraded connections whose records were sent before, or are in this batch; left out: there are none. */
  readonly websockets?: readonly WebSocketUpdate[];
}

/** A request that the control plane has sent down a tunnel: a replay, or the delivery of a stored webhook. */
export interface TunnelRequest {
  readonly tunnelId: string;
  readonly method: string;
  /** Origin form. */
  readonly target: string;
  /** Name and value in turn. `Host`, what frames the message and what belongs to one connection is not among them. */
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>;
  /** Of the tunnel: one of its names. */
  readonly host: string;
  readonly body: Uint8Array;
  /** The client address for the tunnel's policy and for the service (`X-Forwarded-For`). */
  readonly clientIp: string;
  readonly scheme: 'http' | 'https';
  /** The record that is sent again, for the new one; null: it is no replay. */
  readonly replayOf: string | null;
  /** From the request's start to the end of the answer. */
  readonly timeoutMs: number;
  /** So many bytes of the response's body come with the answer, at most. Absent: none. */
  readonly keepBytes?: number;
}

/** What is kept of the service's response, where the request asks for it. */
export interface KeptResponse {
  readonly contentType: string | null;
  /** The first bytes of the body, as the service sent them. */
  readonly body: Uint8Array;
  /** Bytes of the whole body, as far as it came. */
  readonly size: number;
}

export type TunnelAnswer =
  /** `id`: its record, stored by the time of the answer unless the inspector can't keep it. `status`: the service's, or that of the edge, with its `code`. */
  | {
      readonly ok: true;
      readonly id: string;
      readonly status: number;
      readonly code: string | null;
      readonly latencyMs: number;
      /** Absent: not asked for, or no response came from the service. */
      readonly response?: KeptResponse;
    }
  /** Nothing was sent, and there is no record. No agent of this node serves the tunnel; or the node, or the tunnel, has too many of these under way. */
  | { readonly ok: false; readonly code: 'tunnel_offline' | 'overloaded' };
