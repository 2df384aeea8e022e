//! One TCP connection: plain HTTP, and the step from there to a WebSocket.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use fieldlab_nt4::server::{ConnectInfo, Version};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::upgrade::Upgraded;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use crate::io::{Socket, Watched};
use crate::name::{Protocol, client_name};
use crate::room::Place;
use crate::server::Clock;
use crate::{Hub, socket};

/// How long a peer may take over its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// What every connection of one server shares.
pub(crate) struct Context {
    pub(crate) hub: Hub,
    pub(crate) clock: Clock,
    pub(crate) accept_unnamed: bool,
    pub(crate) stop: watch::Receiver<bool>,
}

/// Serves one TCP connection until it ends; its place is held by it and by what it becomes.
pub(crate) async fn serve(stream: TcpStream, peer: SocketAddr, context: Arc<Context>, place: Place) {
    let mut stop = context.stop.clone();
    let service = service_fn(|mut request: Request<Incoming>| {
        let (response, protocol) = answer(&request, &context);
        if let Some((protocol, name)) = protocol {
            let upgrade = hyper::upgrade::on(&mut request);
            let (context, place) = (context.clone(), place.clone());
            tokio::spawn(async move {
                if let Ok(upgraded) = upgrade.await {
                    websocket(upgraded, protocol, name, peer, &context).await;
                }
                drop(place);
            });
        }
        async move { Ok::<_, Infallible>(response) }
    });
    let http = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .serve_connection(TokioIo::new(Watched::new(stream)), service)
        .with_upgrades();
    tokio::select! {
        // A connection that broke before it was upgraded has nobody left to tell.
        served = http => drop(served),
        _ = stop.changed() => {}
    }
}

async fn websocket(
    upgraded: Upgraded,
    protocol: Protocol,
    name: String,
    peer: SocketAddr,
    context: &Context,
) {
    // The stream that went into hyper is the one that comes out.
    let Ok(parts) = upgraded.downcast::<TokioIo<Watched>>() else { return };
    let limit = context.hub.with(|s| s.limits().message_bytes);
    let config = WebSocketConfig::default()
        .max_message_size(Some(limit))
        .max_frame_size(Some(limit))
        .read_buffer_size(32 << 10)
        .write_buffer_size(64 << 10);
    let stream = parts.io.into_inner();
    let socket: Socket =
        WebSocketStream::from_partially_read(stream, parts.read_buf.to_vec(), Role::Server, Some(config))
            .await;
    let (clock, stop) = (context.clock.clone(), context.stop.clone());
    match protocol {
        Protocol::Topics(version) => {
            let info = ConnectInfo { name, address: peer.to_string(), version, immediate: false };
            socket::serve(socket, context.hub.clone(), clock, info, stop).await;
        }
        Protocol::Rtt => socket::serve_time(socket, clock, stop).await,
    }
}

/// The answer to a request, and what the connection becomes afterwards.
fn answer(
    request: &Request<Incoming>,
    context: &Context,
) -> (Response<Full<Bytes>>, Option<(Protocol, String)>) {
    if is_upgrade(request.headers()) {
        return match upgrade(request, context.accept_unnamed) {
            Ok((response, protocol, name)) => (response, Some((protocol, name))),
            Err((status, why)) => (reply(status, "text/plain", format!("{why}\n")), None),
        };
    }
    let plain = match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, "/") => {
            let page = "<!DOCTYPE html><title>NetworkTables</title><p>A NetworkTables 4.1 server. \
                        <a href=\"/nt/persistent.json\">Persistent topics</a></p>\n";
            reply(StatusCode::OK, "text/html; charset=utf-8", page.to_owned())
        }
        (&Method::GET | &Method::HEAD, "/nt/persistent.json") => {
            reply(StatusCode::OK, "application/json", context.hub.with(|s| s.persistent_json()))
        }
        _ => reply(StatusCode::NOT_FOUND, "text/plain", "not found\n".to_owned()),
    };
    (plain, None)
}

fn reply(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|v| v.split(',')).any(|t| t.trim().eq_ignore_ascii_case(token))
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    has_token(headers, &header::UPGRADE, "websocket")
}

type Refused = (StatusCode, &'static str);

/// Checks an upgrade before it is granted: a wrong path or protocol is told as plain HTTP, which every peer can read.
fn upgrade(
    request: &Request<Incoming>,
    accept_unnamed: bool,
) -> Result<(Response<Full<Bytes>>, Protocol, String), Refused> {
    let Some(name) = client_name(request.uri().path()) else {
        return Err((StatusCode::NOT_FOUND, "expected a path /nt/<client name>"));
    };
    let headers = request.headers();
    let offered = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL);
    let named = offered.iter().next().is_some();
    let chosen = Protocol::choose(offered.iter().filter_map(|v| v.to_str().ok()));
    let protocol = match chosen {
        Some(protocol) => protocol,
        None if !named && accept_unnamed => Protocol::Topics(Version::V40),
        None => return Err((StatusCode::BAD_REQUEST, "expected a NetworkTables 4 subprotocol")),
    };
    let version = headers.get(header::SEC_WEBSOCKET_VERSION).map(HeaderValue::as_bytes);
    let key = headers.get(header::SEC_WEBSOCKET_KEY);
    let (Some(key), Some(b"13"), &Method::GET, true) =
        (key, version, request.method(), has_token(headers, &header::CONNECTION, "upgrade"))
    else {
        return Err((StatusCode::BAD_REQUEST, "expected a WebSocket handshake of version 13"));
    };
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()))
        .map_err(|_| (StatusCode::BAD_REQUEST, "expected a WebSocket key"))?;
    let mut response = Response::new(Full::new(Bytes::new()));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let told = response.headers_mut();
    told.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    told.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    told.insert(header::SEC_WEBSOCKET_ACCEPT, accept);
    told.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    if named {
        told.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol.name()));
    }
    Ok((response, protocol, name))
}
