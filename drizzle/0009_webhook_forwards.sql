CREATE TABLE `webhook_forwards` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`receiver_id` text NOT NULL,
	`place` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer DEFAULT 0 NOT NULL,
	`last_status` integer,
	`last_error` text,
	`delivered_at` integer,
	FOREIGN KEY (`sequence`) REFERENCES `webhook_deliveries`(`sequence`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `webhook_forwards_waiting` ON `webhook_forwards` (`receiver_id`,`place`,`sequence`) WHERE state = 'waiting';--> statement-breakpoint
ALTER TABLE `webhook_deliveries` ADD `remote_ip` text;--> statement-breakpoint
ALTER TABLE `webhook_receivers` ADD `forward_tunnel_id` text;--> statement-breakpoint
ALTER TABLE `webhook_receivers` ADD `forward_path` text;--> statement-breakpoint
CREATE INDEX `webhook_receivers_forward` ON `webhook_receivers` (`forward_tunnel_id`) WHERE forward_tunnel_id IS NOT NULL;