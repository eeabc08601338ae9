ALTER TABLE `tunnels` ADD `agent_id` text;--> statement-breakpoint
ALTER TABLE `tunnels` ADD `agent_at` integer;--> statement-breakpoint
ALTER TABLE `tunnels` ADD `agent_left` text;--> statement-breakpoint
ALTER TABLE `tunnels` ADD `traffic_at` integer;--> statement-breakpoint
CREATE INDEX `webhook_forwards_failing` ON `webhook_forwards` (`receiver_id`,`state`,`attempts`) WHERE (state = 'failed' OR (state = 'waiting' AND attempts >= 3));