//! Subscriptions come and go.

use fieldlab_base::ClientId;

use super::connection::Subscription;
use super::{Server, at};
use crate::control::SubscribeOptions;

impl Server {
    /// Takes or replaces a subscription. Announcements leave before values, whatever the number of topics.
    pub(super) fn subscribe(
        &mut self,
        client: ClientId,
        subuid: i32,
        topics: Vec<String>,
        options: SubscribeOptions,
    ) {
        let Some(me) = self.slot_of(client) else { return };
        let Some(connection) = at(&mut self.clients, me) else { return };
        let held = connection.subs.get(&subuid).map_or(0, |s| s.patterns.len());
        let others: usize = options.others.iter().map(|(k, v)| k.len() + v.to_string().len()).sum();
        let full = connection.patterns - held + topics.len() > self.limits.patterns
            || (connection.subs.len() >= self.limits.subscriptions && !connection.subs.contains_key(&subuid))
            || topics.iter().any(|t| t.len() > self.limits.name_bytes)
            || others > self.limits.properties_bytes;
        if full {
            self.stats.refused += 1;
            return;
        }
        connection.patterns = connection.patterns - held + topics.len();
        let patterns: Vec<Box<str>> = topics.into_iter().map(String::into_boxed_str).collect();
        let before = self.meant_by(me, subuid);
        let fresh = Subscription { patterns, options };
        let mut after: Vec<u32> = Vec::new();
        for pattern in &fresh.patterns {
            if fresh.options.prefix {
                let names = self
                    .by_name
                    .range::<str, _>((
                        std::ops::Bound::Included(pattern.as_ref()),
                        std::ops::Bound::Unbounded,
                    ))
                    .take_while(|(name, _)| name.starts_with(pattern.as_ref()));
                after.extend(names.filter(|(name, _)| fresh.means(name)).map(|(_, slot)| *slot));
            } else if let Some(slot) = self.by_name.get(pattern.as_ref()) {
                after.push(*slot);
            }
        }
        after.sort_unstable();
        after.dedup();
        // Announced in the order of names, like everything else that is listed.
        self.work += (before.len() + after.len()) as u64;
        if let Some(connection) = at(&mut self.clients, me) {
            connection.subs.insert(subuid, fresh);
        }
        for slot in before.iter().filter(|s| after.binary_search(s).is_err()) {
            self.unmatch(me, *slot, subuid);
        }
        for slot in &after {
            let Some(connection) = at(&mut self.clients, me) else { return };
            let topic = &mut self.topics[*slot as usize];
            let state = connection.state(*slot);
            if !state.subs.contains(&subuid) {
                state.subs.push(subuid);
            }
            connection.announce(*slot, topic, None);
            let (meta, stale) = (topic.sub_meta, topic.meta_stale);
            if stale {
                self.rebuild_meta(*slot);
            }
            let Some(connection) = at(&mut self.clients, me) else { return };
            let topic = &mut self.topics[*slot as usize];
            connection.settle_interest(me, *slot, topic, &self.limits);
            if topic.meta.is_none() {
                self.touch_meta(meta);
            }
        }
        let Some(connection) = at(&mut self.clients, me) else { return };
        super::outbound::wake(connection, &mut self.wakes);
        let meta = connection.sub_meta;
        self.touch_meta(meta);
    }

    pub(super) fn unsubscribe(&mut self, client: ClientId, subuid: i32) {
        let Some(me) = self.slot_of(client) else { return };
        let before = self.meant_by(me, subuid);
        self.work += before.len() as u64;
        let Some(connection) = at(&mut self.clients, me) else { return };
        let Some(gone) = connection.subs.remove(&subuid) else { return };
        connection.patterns -= gone.patterns.len();
        let meta = connection.sub_meta;
        for slot in before {
            self.unmatch(me, slot, subuid);
        }
        self.touch_meta(meta);
    }

    /// The topics that a subscription of a connection means now.
    fn meant_by(&self, me: u32, subuid: i32) -> Vec<u32> {
        let Some(Some(connection)) = self.clients.get(me as usize) else { return Vec::new() };
        if !connection.subs.contains_key(&subuid) {
            return Vec::new();
        }
        let meant = connection.states.iter().enumerate().filter(|(_, s)| s.subs.contains(&subuid));
        meant.map(|(slot, _)| slot as u32).collect()
    }

    fn unmatch(&mut self, me: u32, slot: u32, subuid: i32) {
        let Some(connection) = at(&mut self.clients, me) else { return };
        let topic = &mut self.topics[slot as usize];
        connection.state(slot).subs.retain(|s| *s != subuid);
        connection.settle_interest(me, slot, topic, &self.limits);
        let meta = topic.sub_meta;
        if topic.meta.is_none() {
            self.touch_meta(meta);
        }
    }
}
